#include <algorithm>

#include "io/urdf_parts.hpp"

namespace kempe::io {
namespace {

Material readMaterial(const Element& element) {
  element.expect({.attributes = {"name"}, .once = {"color", "texture"}, .cosmetic = true});
  Material material;
  if (const auto color = element.child("color")) {
    color->expect({.attributes = {"rgba"}, .cosmetic = true});
    material.color = color->requiredFour("rgba");
    const auto outside = [](double part) { return part < 0.0 || part > 1.0; };
    if (std::ranges::any_of(*material.color, outside)) {
      color->warn("a part of a colour is not between 0 and 1.");
    }
  }
  if (const auto texture = element.child("texture")) {
    texture->expect({.attributes = {"filename"}, .cosmetic = true});
    material.texture = texture->requiredText("filename");
  }
  return material;
}

bool saysSomething(const Material& material) {
  return material.color || !material.texture.empty();
}

double requiredLength(const Element& element, const char* attribute) {
  const double value = element.requiredNumber(attribute);
  if (value < 0.0) {
    element.fail(std::string(attribute) + " is negative. Lengths are positive numbers of metres.");
  }
  return value;
}

void readGeometry(const Element& geometry, Shape& shape) {
  geometry.expect({.once = {"box", "cylinder", "sphere", "capsule", "mesh"}, .cosmetic = true});
  int kinds = 0;
  if (const auto box = geometry.child("box")) {
    box->expect({.attributes = {"size"}, .cosmetic = true});
    shape.kind = Shape::Kind::Box;
    shape.size = box->requiredVector("size");
    if (std::min({shape.size.x, shape.size.y, shape.size.z}) < 0.0) {
      box->fail("an edge is negative. Lengths are positive numbers of metres.");
    }
    ++kinds;
  }
  if (const auto sphere = geometry.child("sphere")) {
    sphere->expect({.attributes = {"radius"}, .cosmetic = true});
    shape.kind = Shape::Kind::Sphere;
    shape.radius = requiredLength(*sphere, "radius");
    ++kinds;
  }
  for (const auto& [tag, kind] :
       {std::pair{"cylinder", Shape::Kind::Cylinder}, std::pair{"capsule", Shape::Kind::Capsule}}) {
    if (const auto round = geometry.child(tag)) {
      round->expect({.attributes = {"radius", "length"}, .cosmetic = true});
      shape.kind = kind;
      shape.radius = requiredLength(*round, "radius");
      shape.length = requiredLength(*round, "length");
      ++kinds;
    }
  }
  if (const auto mesh = geometry.child("mesh")) {
    mesh->expect({.attributes = {"filename", "scale"}, .cosmetic = true});
    shape.kind = Shape::Kind::Mesh;
    shape.mesh = mesh->requiredName("filename");
    shape.size = mesh->vector("scale").value_or(Vector3{1, 1, 1});
    ++kinds;
  }
  if (kinds != 1) {
    geometry.fail("holds " + std::to_string(kinds) +
                  " shapes. Put one <box>, <cylinder>, <sphere>, <capsule> or <mesh> into it.");
  }
}

}  // namespace

Materials readMaterials(const Element& file) {
  Materials materials;
  for (const Element& element : file.children("material")) {
    element.tolerate(
        [&] {
          const Material material = readMaterial(element);
          if (!materials.emplace(element.requiredName(), material).second) {
            element.fail("the material is defined twice. Remove or rename one of the two.");
          }
        },
        "It is ignored.");
  }
  for (const Element& link : file.children("link")) {
    for (const Element& visual : link.children("visual")) {
      const auto element = visual.child("material");
      const std::string name = element ? element->text("name").value_or("") : "";
      if (!name.empty() && (element->child("color") || element->child("texture"))) {
        try {
          materials.emplace(name, readMaterial(*element));  // the first one stays
        } catch (const ElementError&) {
          continue;  // readShape() reports it
        }
      }
    }
  }
  return materials;
}

Shape readShape(const Element& element, const Materials& materials) {
  element.expect(
      {.attributes = {"name"}, .once = {"origin", "geometry", "material"}, .cosmetic = true});
  Shape shape;
  shape.name = element.text("name").value_or("");
  shape.origin = readOrigin(element);
  readGeometry(element.requiredChild("geometry",
                                     "Give its shape, such as <geometry><box "
                                     "size=\"0.1 0.1 0.1\"/></geometry>."),
               shape);
  if (const auto given = element.child("material")) {
    Material material;
    const bool understood = given->tolerate(
        [&] {
          shape.material = given->text("name").value_or("");
          material = readMaterial(*given);
        },
        "It is ignored.");
    if (understood && !saysSomething(material)) {
      const auto known = materials.find(shape.material);
      if (known == materials.end() && shape.material.empty()) {
        given->warn("a material without name, colour and texture is ignored.");
      } else if (known == materials.end()) {
        given->warn("the material " + inQuotes(shape.material) + " has no colour or texture.");
      } else {
        material = known->second;
      }
    }
    shape.color = material.color;
    shape.texture = material.texture;
  }
  return shape;
}

}  // namespace kempe::io
