"""Robots in MJCF that several tests use."""

from __future__ import annotations

from pathlib import Path

import kempe

GEOM = '<geom type="box" size=".03 .05 .1" pos=".02 .03 .1" density="800"/>'
ROD = '<geom type="capsule" fromto="0 0 0 {} 0 0" size=".02" density="900"/>'


def written(folder: Path, bodies: str, rest: str = "", head: str = "") -> Path:
    file = folder / "robot.xml"
    file.write_text(f"""<mujoco model="robot">
  <compiler angle="radian"/>
  {head}
  <worldbody>{bodies}</worldbody>
  {rest}
</mujoco>
""")
    return file


def about(model: kempe.Model, *words: str) -> list[str]:
    """The warnings that contain all these words."""
    return [text for text in model.warnings if all(word in text for word in words)]


# --- without loops -------------------------------------------------------------------------------

TREES = {
    "hinge": f'<body pos=".1 .2 .3" euler=".3 .2 .1"><joint axis="1 2 3"/>{GEOM}</body>',
    "slide": f'<body pos=".1 .2 .3" euler=".3 .2 .1"><joint type="slide" axis="1 2 3"/>{GEOM}'
             f'<body pos="0 0 .2"><joint type="hinge" axis="0 1 0"/>{GEOM}</body></body>',
    "ball": f'<body pos=".1 .2 .3" euler=".3 .2 .1"><joint type="ball" pos=".1 -.2 .3"/>{GEOM}'
            f'<body pos="0 0 .2"><joint axis="0 1 0"/>{GEOM}</body></body>',
    "free": f'<body pos=".1 .2 .3" euler=".3 .2 .1"><freejoint/>{GEOM}'
            f'<body pos="0 0 .2"><joint axis="0 1 0" damping=".1"/>{GEOM}</body>'
            f'<body pos="0 .2 .2"><joint type="ball" damping=".1"/>{GEOM}</body></body>',
    "anchors": f'<body pos=".1 .2 .3"><joint axis="0 0 1" pos=".1 .2 .3"/>{GEOM}'
               f'<body pos="0 0 .2" euler="1 2 3"><joint axis="0 1 1" pos="-.1 .3 0"/>{GEOM}'
               '</body></body>',
    "references": f'<body pos=".1 .2 .3"><joint axis="0 1 1" pos=".1 .2 .3" ref=".7"/>{GEOM}'
                  f'<body pos="0 0 .2"><joint type="slide" axis="1 1 0" ref="-.3"/>{GEOM}'
                  '</body></body>',
    "several joints": f"""<body pos=".1 .2 .3" euler="1 2 3">
        <joint name="x" axis="1 0 0" pos=".1 0 0" ref=".3" armature=".2"/>
        <joint name="s" type="slide" axis="0 1 1" ref=".1"/>
        <joint name="z" axis="0 1 1" pos="0 .2 .1" ref="-.5" damping=".3"/>{GEOM}
        <body pos="0 0 .2"><joint name="u" axis="0 1 0"/><joint name="v" axis="1 0 0"/>
          <joint name="w" axis="0 0 1"/>{GEOM}</body></body>""",
    "passive": f"""<body pos="0 0 1"><joint axis="0 1 0" armature=".3" damping=".4" stiffness="5"
          springref=".6" ref=".2"/>{GEOM}
        <body pos="0 0 .3"><joint type="slide" axis="1 0 0" armature=".1" damping=".2"
          stiffness="3"/>{GEOM}</body></body>""",
    "ball with armature": f'<body><joint type="ball" armature=".2" damping=".1"/>{GEOM}</body>',
    "inertias": """<body pos="0 0 1"><joint axis="0 1 0"/>
        <inertial pos=".1 .2 .3" mass="2" fullinertia=".03 .02 .025 .001 .002 -.003"/>
        <body pos="0 0 .3"><joint axis="1 0 0"/>
          <inertial pos="0 .1 0" euler=".3 .5 .7" mass="1" diaginertia=".01 .02 .015"/></body>
        <body pos="0 .2 .3"><joint axis="0 0 1"/><geom type="ellipsoid" size=".1 .2 .3"/>
          <geom type="cylinder" size=".1 .2" pos=".2 0 0" euler="1 0 0" mass="2"/></body></body>""",
    "static": f"""<body pos="0 0 1" euler=".1 .2 .3">{GEOM}<body pos=".1 0 0">
        <joint axis="0 1 0"/>{GEOM}<body pos="0 0 .3" euler=".5 0 0">{GEOM}
        <body pos=".1 .1 .1"><joint axis="1 0 0"/>{GEOM}</body></body></body></body>""",
    "two robots": f'<body><freejoint/>{GEOM}</body><body pos="1 0 0"><joint/>{GEOM}</body>',
}

# --- with loops ----------------------------------------------------------------------------------

FOUR_BAR = f"""<body name="crank" pos="0 0 1"><joint name="motor" axis="0 1 0"/>{ROD.format(".2")}
    <body name="coupler" pos=".2 0 0"><joint name="knee" axis="0 1 0"/>{ROD.format(".6")}
      <site name="end" pos=".6 0 0" euler="0 .3 0"/></body></body>
  <body name="rocker" pos=".5 0 1"><joint name="pivot" axis="0 1 0"/>{ROD.format(".4")}
    <site name="top" pos=".4 0 0" euler="0 .3 0"/></body>"""
# The four-bar, closed in its reference position: crank and rocker 1.2 and 1.7 rad up.
CLOSED = """<body name="crank" pos="0 0 1"><joint name="motor" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .1 0 .2" size=".02"/>
    <body name="coupler" pos=".1 0 .2"><joint name="knee" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .6 0 .1" size=".02"/></body></body>
  <body name="rocker" pos=".5 0 1"><joint name="pivot" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .2 0 .3" size=".02"/></body>{}"""
CHAIN = f"""<body name="a" pos="0 0 1" euler=".1 .2 .3"><joint name="a1" axis="0 0 1"/>
    <joint name="a2" axis="0 1 0"/><joint name="a3" axis="1 0 0"/>{GEOM}
    <body name="b" pos=".3 0 0"><joint name="b1" type="ball"/>{GEOM}
      <body name="c" pos=".3 0 0"><joint name="c1" axis="0 1 0"/><joint name="c2" axis="0 0 1"/>
        {GEOM}<site name="tip" pos=".1 .2 .3" euler=".5 0 .1"/></body></body></body>
  <body name="d" pos=".5 .1 1"><joint name="d1" axis="0 1 0"/><joint name="d2" axis="1 0 0"/>{GEOM}
    <site name="top" pos=".1 .2 0" euler=".5 0 .3"/></body>"""
THREE = f"""<body name="a" pos="0 0 1"><joint name="a" axis="0 1 0" ref=".3"/>{GEOM}
    <body name="b" pos="0 0 .2"><joint name="b" axis="1 0 0" ref="-.2"/>{GEOM}</body></body>
  <body name="c" pos=".5 0 1"><joint name="c" type="slide" axis="1 0 1" ref=".1"/>{GEOM}</body>"""
TENDONS = """<tendon><fixed name="t"><joint joint="a" coef="2"/><joint joint="b" coef="-1"/></fixed>
  <fixed name="u"><joint joint="c" coef="3"/><joint joint="b" coef=".5"/></fixed></tendon>"""
LOOPS = {
    "connect bodies": (CLOSED.format(""), '<connect body1="coupler" body2="rocker" '
                       'anchor=".6 0 .1"/>'),
    "connect to the world": (CHAIN, '<connect body1="c" anchor=".1 .2 .3"/>'),
    "connect sites": (FOUR_BAR, '<connect site1="end" site2="top"/>'),
    "weld": (CHAIN, '<weld body1="c" body2="d"/>'),
    "weld with a pose": (CHAIN, '<weld body1="c" body2="d" anchor=".1 .2 0" '
                         'relpose=".3 .1 .2 .9 .1 .3 .2"/>'),
    "weld sites": (CHAIN, '<weld site1="tip" site2="top"/>'),
    "joint": (THREE, '<joint joint1="a" joint2="b" polycoef=".1 -2 0 0 0"/>'),
    "joint alone": (THREE, '<joint joint1="a" polycoef=".1 0 0 0 0"/>'),
    "quadratic": (THREE, '<joint joint1="a" joint2="b" polycoef=".1 -2 .5 0 0"/>'),
    "quartic": (THREE, '<joint joint1="c" joint2="b" polycoef=".1 .3 -.2 .1 .05"/>'),
    "tendons": (THREE, '<tendon tendon1="t" tendon2="u" polycoef=".1 .5 0 0 0"/>', TENDONS),
    "tendon alone": (THREE, '<tendon tendon1="t" polycoef=".1 0 0 0 0"/>', TENDONS),
    "tendons, cubic": (THREE, '<tendon tendon1="t" tendon2="u" polycoef=".1 .5 .2 .1 0"/>',
                       TENDONS),
    "rod": (FOUR_BAR, '<tendon tendon1="r" polycoef=".2 0 0 0 0"/>',
            '<tendon><spatial name="r"><site site="end"/><site site="top"/></spatial></tendon>'),
    "two": (CLOSED.format(THREE.replace('"a"', '"aa"')),
            '<connect body1="coupler" body2="rocker" anchor=".6 0 .1"/>'
            '<joint joint1="motor" joint2="b" polycoef="0 .5 0 0 0"/>'),
}

# --- with actuators ------------------------------------------------------------------------------

ACTUATED = f"""<body name="base" pos="0 0 1"><freejoint name="base"/>{GEOM}
    <body name="arm" pos=".1 0 0"><joint name="arm" axis="0 1 0"/>{GEOM}
      <site name="p" pos="0 .1 .2" euler=".1 .2 .3"/>
      <body name="hand" pos=".1 0 .2"><joint name="hand" type="ball"/>{GEOM}</body></body>
    <body name="leg" pos="-.1 0 0"><joint name="leg" axis="1 0 0" damping=".1"/>{GEOM}
      <site name="r" pos=".1 .1 0"/></body></body>"""
ACTUATORS = """<tendon><fixed name="t"><joint joint="arm" coef="2"/><joint joint="leg" coef="-1"/>
    </fixed><spatial name="s"><site site="p"/><site site="r"/></spatial></tendon>
  <actuator><motor name="m" joint="arm" gear="3"/>
    <position name="x" joint="leg" kp="20" kv="3" ctrlrange="-1 1" ctrllimited="true"/>
    <velocity name="w" joint="arm" kv="5" gear="2"/>
    <general name="g" joint="leg" gainprm="3" biastype="affine" biasprm="1 -2 -.5" gear="2"
      forcerange="-4 4" forcelimited="true"/>
    <motor name="ball" joint="hand" gear="1 2 3"/>
    <motor name="ball_parent" jointinparent="hand" gear="1 2 3"/>
    <motor name="free" joint="base" gear="1 2 3 4 5 6"/>
    <motor name="free_parent" jointinparent="base" gear="1 2 3 4 5 6"/>
    <motor name="fixed" tendon="t" gear="2"/>
    <position name="spatial" tendon="s" kp="30" gear="1.5"/>
    <motor name="site" site="p" gear="1 2 3 4 5 6"/></actuator>"""
