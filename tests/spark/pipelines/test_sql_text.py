"""What is told of SQL without Spark."""

import pytest

from penstock.spark.pipelines.sql_text import as_of, chance, tables_read, unbalanced, with_input


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("SELECT * FROM a", ["a"]),
        ("select * from a, b c join d.e on a.x = d.x", ["a", "b", "d.e"]),
        ("SELECT extract(YEAR FROM ts), trim(BOTH FROM x) FROM a", ["a"]),
        ("SELECT a IS DISTINCT FROM b FROM t", ["t"]),
        ("WITH x AS (SELECT * FROM y), z(q) AS (SELECT 1 FROM `w w`) SELECT * FROM x JOIN z", ["y", "w w"]),
        ("SELECT * FROM (SELECT * FROM q) s JOIN r", ["q", "r"]),
        ("SELECT * FROM a UNION ALL SELECT * FROM b", ["a", "b"]),
        ("SELECT count(*) FROM clicks WATERMARK ts DELAY OF INTERVAL 30 SECONDS GROUP BY 1", ["clicks"]),
        ("SELECT 'from x' -- from y\n/* from z */ FROM t", ["t"]),
        ("SELECT * FROM stream(foo), LATERAL explode(x) t", ["foo"]),
        ("SELECT * FROM STREAM foo", ["foo"]),
        ("SELECT * FROM range(10)", []),
        ("FROM t SELECT x", ["t"]),
        ("SELECT * FROM parquet.`some/path`", ["parquet.some/path"]),
        ("SELECT count(*) FILTER (WHERE a IN (SELECT id FROM b)) FROM c", ["b", "c"]),
        ("SELECT 1", []),
        ("SELECT * FROM a LATERAL VIEW explode(m) t AS k, v", ["a"]),
        ("SELECT * FROM a, b LATERAL VIEW OUTER posexplode(c) t AS p, v WHERE p > 1", ["a", "b"]),
        ("SELECT * FROM a LATERAL VIEW explode(x) s AS y, z LATERAL VIEW inline(i) t AS k, v", ["a"]),
        ("SELECT k, v FROM (SELECT * FROM a LATERAL VIEW inline(s) t AS k, v) q, b", ["a", "b"]),
        ("FROM a |> EXTEND a AS b, c AS d |> JOIN e ON a = f |> DROP g, h", ["a", "e"]),
        ("SELECT x | y FROM a, b", ["a", "b"]),
        ("SELECT * FROM (a)", ["a"]),
        ("SELECT * FROM ((a)) s, (b.c) t", ["a", "b.c"]),
        ("SELECT * FROM (a JOIN b ON a.x = b.x)", ["a", "b"]),
        ("SELECT * FROM ((a JOIN b) LEFT JOIN c USING (x)) JOIN (d) ON (d.y = c.y)", ["a", "b", "c", "d"]),
        ("SELECT * FROM ((SELECT u, v FROM a) UNION (SELECT w, z FROM b)) s", ["a", "b"]),
        ("SELECT * FROM (WITH x AS (SELECT 1), y AS (SELECT 2) SELECT * FROM x, y), a", ["a"]),
        ("SELECT * FROM a JOIN b ON a.x = b.x, c JOIN d USING (x, y), e", ["a", "b", "c", "d", "e"]),
        ("SELECT * FROM VALUES (1, 2), (x, DATE '2026-01-31') t JOIN a", ["a"]),
        ("SELECT * FROM (VALUES (1), (x)) t, a", ["a"]),
        ("SELECT * FROM f((x), y), a", ["a"]),
        ("SELECT * FROM a WHERE (x, y) IN ((b, c), (d, e))", ["a"]),
    ],
)
def test_tables_read_are_those_after_from_and_join(sql: str, tables: list[str]) -> None:
    assert [each.name for each in tables_read(sql)] == tables


def test_table_read_knows_where_it_stands() -> None:
    sql = "SELECT *\nFROM `a b`.c WHERE 1 = 1"

    (found,) = tables_read(sql)

    assert sql[found.offset : found.end] == "`a b`.c"
    assert found.parts == ("a b", "c")


@pytest.mark.parametrize(
    ("sql", "offset", "message"),
    [
        ("count((*)", 5, "this ( is never closed"),
        ("a) b", 1, "this ) closes nothing"),
        ("a = 'b", 4, "this ' has no end"),
        ("a = `b", 4, "this ` has no end"),
    ],
)
def test_unbalanced_names_the_first_half_without_another(sql: str, offset: int, message: str) -> None:
    mistake = unbalanced(sql)

    assert mistake is not None
    assert (mistake.offset, mistake.message) == (offset, message)


@pytest.mark.parametrize("sql", ["f(')')", "a = 'it''s'", r"'\''", "-- (\nx", "/* ' */ x", '"a("'])
def test_unbalanced_is_not_misled_by_strings_and_comments(sql: str) -> None:
    assert unbalanced(sql) is None


@pytest.mark.parametrize(
    ("sql", "whole"),
    [
        ("SELECT * FROM input", "WITH input AS (SELECT * FROM v) SELECT * FROM input"),
        ("WITH a AS (SELECT 1) SELECT 2", "WITH input AS (SELECT * FROM v), a AS (SELECT 1) SELECT 2"),
        ("WITH RECURSIVE a AS (x) y", "WITH RECURSIVE input AS (SELECT * FROM v), a AS (x) y"),
    ],
)
def test_with_input_adds_a_name_to_a_query(sql: str, whole: str) -> None:
    assert with_input(sql, "input", reading="v") == whole


@pytest.mark.parametrize(
    ("sql", "fixed"),
    [
        ("ts > current_timestamp() + INTERVAL 5 MINUTES", "ts > timestamp_millis(7) + INTERVAL 5 MINUTES"),
        (
            "ts > CURRENT_TIMESTAMP AND d = current_date",
            "ts > timestamp_millis(7) AND d = CAST(timestamp_millis(7) AS date)",
        ),
        ("now ( ) < ts OR curdate()=d", "timestamp_millis(7) < ts OR CAST(timestamp_millis(7) AS date)=d"),
        ("localtimestamp()", "CAST(timestamp_millis(7) AS timestamp_ntz)"),
        ("at < unix_timestamp()", "at < unix_seconds(timestamp_millis(7))"),
        ("at < unix_timestamp(text, 'yyyy')", "at < unix_timestamp(text, 'yyyy')"),
        ("now > 1 AND a.now AND a.current_date", "now > 1 AND a.now AND a.current_date"),
        ("localtimestamp IS NULL", "localtimestamp IS NULL"),
        ("current_date() AS current_date", "CAST(timestamp_millis(7) AS date) AS current_date"),
        ("'now()' = x -- now()", "'now()' = x -- now()"),
    ],
)
def test_sql_as_of_a_moment_has_that_in_place_of_the_present_time(sql: str, fixed: str) -> None:
    assert as_of(sql, 7) == fixed


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("key IS NULL OR Rand(3) < 0.5", "Rand"),
        ("uuid() = x", "uuid"),
        ("spark_partition_id() = 0", "spark_partition_id"),
        ("opens < current_time(0) AND current_time > 1", "current_time"),
        ("uuid = x AND a.rand(1) AND 'rand()' = x", ""),
        ("hash(key) % 10 = 0", ""),
    ],
)
def test_function_that_says_something_else_each_time_is_found(sql: str, name: str) -> None:
    assert chance(sql) == name
