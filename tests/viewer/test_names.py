"""Names from a file are plain text in the panel, not Markdown, which would load images."""

from collections.abc import Iterator

import pytest
import viser

import kempe
from kempe.viewer import Session

PICTURE = "![x](http://example.invalid/x.png) <b>"
ESCAPED = "![x](http://example.invalid/x.png) &lt;b&gt;"


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    def refused(self: object, content: str, **options: object) -> object:
        assert "example.invalid" not in content
        return add_markdown(self, content, **options)

    add_markdown = viser.GuiApi.add_markdown
    monkeypatch.setattr(viser.GuiApi, "add_markdown", refused)
    mechanism = kempe.Mechanism("arm")
    mechanism.add_body("world")
    mechanism.add_body("arm", mass=1, inertia=(1, 1, 1),
                       visuals=[kempe.Shape("mesh", mesh=PICTURE + ".stl")])
    mechanism.add_revolute(PICTURE, parent="world", child="arm", lower=-0.1, upper=0.1)
    started = Session(kempe.Model(mechanism), port=0)
    yield started
    started.stop()


def test_notices_are_text(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    assert any(PICTURE in notice for notice in session.notices)
    written: list[str] = []
    monkeypatch.setattr(viser.GuiApi, "add_html",
                        lambda self, content, **options: written.append(content))
    session._add_notices(session.server.gui)
    assert any(ESCAPED in content for content in written)
    assert not any("<b>" in content for content in written)


def test_messages_are_text(session: Session) -> None:
    panel = session.pose_panel
    (control,) = session.posture.controls
    panel._say(f"{control.label} is at its limit")
    assert isinstance(panel._message, viser.GuiHtmlHandle)
    assert ESCAPED in panel._message.content
