"""Plots as SVG: bars, columns and a heat map. Whatever they are given to show is escaped."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from penstock.spark.analysis.heat_map import HOURS, HeatMap

_WIDTH = 480
WIDE = 980
"""Of a plot that has a row for itself."""

_LABEL_CHARACTERS_MAX = 24
_ROW = 24
_PLOT_HEIGHT = 180
_LABEL_WIDTH = 90
_CELL_GAP = 2


class Bar(NamedTuple):
    """One value with its name, and how it is written."""

    label: str
    value: float
    text: str


def bar_chart(title: str, bars: Sequence[Bar]) -> str:
    """Bars that lie, one below the other, the longest as long as there is room."""
    largest = max((bar.value for bar in bars), default=0) or 1
    left, right = 160, 80
    room = _WIDTH - left - right
    rows = []
    for number, bar in enumerate(bars):
        top = number * _ROW
        width = max(1.5, room * bar.value / largest) if bar.value else 0
        rows.append(
            f"<g><title>{escape(bar.label)}: {escape(bar.text)}</title>"
            f'<text x="{left - 8}" y="{top + 16}" text-anchor="end">{escape(_shortened(bar.label))}</text>'
            f'<rect class="track" x="{left}" y="{top + 4}" width="{room}" height="16" rx="3"/>'
            f'<rect class="bar" x="{left}" y="{top + 4}" width="{width:.1f}" height="16" rx="3"/>'
            f'<text class="quiet" x="{left + room + 8}" y="{top + 16}">{escape(bar.text)}</text></g>'
        )
    return _svg(title, "".join(rows), height=max(1, len(bars)) * _ROW)


def column_chart(title: str, bars: Sequence[Bar], *, width: int = _WIDTH) -> str:
    """Columns that stand side by side, with some of their names below."""
    largest = max((bar.value for bar in bars), default=0) or 1
    step = width / max(1, len(bars))
    gap = min(3.0, step / 5)
    named = max(1, -(-len(bars) * _LABEL_WIDTH // width))
    parts = [f'<line class="axis" x1="0" x2="{width}" y1="{_PLOT_HEIGHT}" y2="{_PLOT_HEIGHT}"/>']
    for number, bar in enumerate(bars):
        height = max(1.5, (_PLOT_HEIGHT - 12) * bar.value / largest) if bar.value else 0
        left = number * step
        parts.append(
            f"<g><title>{escape(bar.label)}: {escape(bar.text)}</title>"
            f'<rect class="bar" x="{left + gap / 2:.2f}" y="{_PLOT_HEIGHT - height:.1f}" '
            f'width="{step - gap:.2f}" height="{height:.1f}" rx="{min(2.0, step / 4):.1f}"/></g>'
        )
        if number % named == 0 and (number == 0 or left + _LABEL_WIDTH <= width):
            anchor, at = ("start", left) if len(bars) > 1 else ("middle", width / 2)
            parts.append(
                f'<text class="quiet" x="{at:.1f}" y="{_PLOT_HEIGHT + 18}" text-anchor="{anchor}">'
                f"{escape(bar.label)}</text>"
            )
    return _svg(title, "".join(parts), height=_PLOT_HEIGHT + 26, width=width)


def heat_chart(title: str, heat: HeatMap) -> str:
    """A square for each hour of each day, the darker the more messages."""
    left, top, row = 92, 18, 20
    step = (WIDE - left) / HOURS
    parts = [
        f'<text class="quiet" x="{left + (hour + 0.5) * step:.1f}" y="12" text-anchor="middle">'
        f"{hour:02d}</text>"
        for hour in range(0, HOURS, 2)
    ]
    for number, (day, counts) in enumerate(zip(heat.days, heat.counts, strict=True)):
        y = top + number * row
        parts.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{escape(day)}</text>')
        parts += [
            f'<rect class="{"bar" if count else "track"}" x="{left + hour * step:.1f}" y="{y}" '
            f'width="{step - _CELL_GAP:.1f}" height="{row - _CELL_GAP}" rx="2" '
            f'opacity="{_opacity(count, heat.largest):.2f}">'
            f"<title>{escape(day)} {hour:02d}:00 UTC: {count:,} messages</title></rect>"
            for hour, count in enumerate(counts)
        ]
    return _svg(title, "".join(parts), height=top + len(heat.days) * row, width=WIDE)


def _opacity(count: int, largest: int) -> float:
    """Whatever is not nothing can be seen."""
    return 0.15 + 0.85 * count / largest if count else 0.45


def _svg(title: str, content: str, *, height: int, width: int = _WIDTH) -> str:
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">{content}</svg>'


def _shortened(label: str) -> str:
    if len(label) <= _LABEL_CHARACTERS_MAX:
        return label
    return label[: _LABEL_CHARACTERS_MAX - 1] + "…"
