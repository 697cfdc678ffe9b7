"""The directive `header`: everything that one public header declares, in the header's order.

    .. header:: kinematics.hpp

Reads Doxygen's XML and hands each declaration to Breathe, so that the reference has whatever the
header has. A header that Doxygen does not know is an error.
"""

import dataclasses
import xml.etree.ElementTree as ET
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

MEMBERS = "   :members:\n   :undoc-members:\n"


@dataclasses.dataclass(order=True)
class Declaration:
    line: int
    directive: str


def is_in(element: ET.Element, header: str) -> bool:
    return element.find("location").get("file", "").endswith(f"include/kempe/{header}")


def line_of(element: ET.Element) -> int:
    return int(element.find("location").get("line"))


def text_of(element: ET.Element | None) -> str:
    return "" if element is None else "".join(element.itertext())


def class_declaration(path: Path, header: str) -> Declaration | None:
    definition = ET.parse(path).getroot().find("compounddef")
    name = definition.findtext("compoundname")
    nested = any(path.with_name(f"{kind}kempe_1_1{name.split('::')[1]}.xml").exists()
                 for kind in ("class", "struct") if name.count("::") > 1)
    if nested or not is_in(definition, header):
        return None
    kind = definition.get("kind")
    return Declaration(line_of(definition), f".. doxygen{kind}:: {name}\n{MEMBERS}\n")


def namespace_declarations(path: Path, header: str) -> list[Declaration]:
    result = []
    for member in ET.parse(path).getroot().iter("memberdef"):
        if not is_in(member, header):
            continue
        name, kind = member.findtext("qualifiedname"), member.get("kind")
        if kind == "function":
            signature = name + text_of(member.find("argsstring"))
            result.append(Declaration(line_of(member), f".. doxygenfunction:: {signature}\n\n"))
        elif kind in {"enum", "typedef"}:
            result.append(Declaration(line_of(member), f".. doxygen{kind}:: {name}\n\n"))
    return result


class Header(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        header = self.arguments[0]
        folder = Path(self.config.breathe_projects[self.config.breathe_default_project])
        found = []
        for path in sorted(folder.glob("namespacekempe*.xml")):
            found += namespace_declarations(path, header)
        for kind in ("class", "struct"):
            for path in sorted(folder.glob(f"{kind}kempe_1_1*.xml")):
                declaration = class_declaration(path, header)
                if declaration:
                    found.append(declaration)
        if not found:
            raise self.error(f"no declarations of include/kempe/{header} in {folder}")
        return self.parse_text_to_nodes("".join(d.directive for d in sorted(found)))


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("header", Header)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
