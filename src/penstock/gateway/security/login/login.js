// Exchanges the token for a cookie: one that was typed, or one that stands behind "#token=" in the address.
// What stands behind the "#" never leaves the browser by itself.

const trouble = document.getElementById("trouble");

async function logIn(token) {
  const answer = await fetch("/login", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (answer.ok) {
    const here = location.pathname === "/login" ? "/" : location.pathname + location.search;
    location.replace(here);
    return;
  }
  const told = await answer.json().catch(() => ({ message: `The gateway answered ${answer.status}.` }));
  trouble.textContent = told.message;
}

function attempt(token) {
  trouble.textContent = "";
  logIn(token).catch((error) => { trouble.textContent = `The gateway cannot be reached: ${error.message}`; });
}

document.getElementById("form").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(document.getElementById("token").value);
});

const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  history.replaceState(null, "", location.pathname + location.search);
  attempt(given);
}
