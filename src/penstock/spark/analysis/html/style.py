"""How a report looks, by day and by night."""

STYLE = """
:root {
  --page: #f6f7f9; --card: #ffffff; --text: #1c2430; --quiet: #5d6b7e; --line: #dfe4ea;
  --accent: #1769aa; --accent-soft: #d4e5f4; --second: #b8570b; --shadow: 0 1px 3px rgb(20 30 50 / 10%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #11161d; --card: #1a212b; --text: #e4e9f0; --quiet: #94a3b6; --line: #2c3745;
    --accent: #58a6e8; --accent-soft: #223a50; --second: #eda25c; --shadow: none;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--text); color-scheme: light dark;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-width: 1080px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 26px; margin: 0 0 4px; }
h2 { font-size: 21px; margin: 48px 0 12px; overflow-wrap: anywhere; }
h3 { font-size: 15px; margin: 0 0 10px; }
p { margin: 0 0 8px; }
a { color: var(--accent); }
.quiet, caption { color: var(--quiet); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(210px, 1fr)); gap: 12px; }
.card, .plot {
  background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px;
  box-shadow: var(--shadow);
}
.card b { display: block; font-size: 22px; font-weight: 650; font-variant-numeric: tabular-nums; }
.card span, .plot p { color: var(--quiet); font-size: 13px; }
.plot p { margin: 8px 0 0; }
header { margin-bottom: 24px; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); gap: 12px; }
.cards + .plots { margin-top: 12px; }
.wide { grid-column: 1 / -1; }
svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--text); font-size: 12px; font-family: inherit; }
svg .quiet { fill: var(--quiet); }
svg .bar { fill: var(--accent); }
svg .track { fill: var(--accent-soft); opacity: .55; }
svg .axis { stroke: var(--line); }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
th, td { padding: 6px 10px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--quiet); font-weight: 600; font-size: 13px; }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; white-space: normal; }
footer { margin-top: 48px; color: var(--quiet); font-size: 13px; }
@media print { body { background: none; } .card, .plot { break-inside: avoid; } }
"""
