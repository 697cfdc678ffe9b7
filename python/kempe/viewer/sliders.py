"""Sliders that both the user and the program move."""

import viser

Slider = viser.GuiSliderHandle[float]
Moved = viser.GuiEvent[Slider]


def by_a_person(event: Moved) -> bool:
    """Whether the user moved the slider, not set_slider()."""
    return event.client_id is not None


def set_slider(slider: Slider, value: float) -> None:
    """Sets a slider, and widens its range if the value is outside."""
    if not slider.min <= value <= slider.max:
        slider.min = min(slider.min, value)
        slider.max = max(slider.max, value)
    slider.value = value  # type: ignore[misc]  # viser declares the setter apart from the getter
