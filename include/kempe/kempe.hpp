#pragma once

/// Exact dynamics of robots whose bodies form loops. This header brings in everything.

#include "kempe/batch.hpp"
#include "kempe/configuration.hpp"
#include "kempe/constraints.hpp"
#include "kempe/coriolis.hpp"
#include "kempe/errors.hpp"
#include "kempe/forward_dynamics.hpp"
#include "kempe/instruction_set.hpp"
#include "kempe/inverse_dynamics.hpp"
#include "kempe/io.hpp"
#include "kempe/jet.hpp"
#include "kempe/joint_forces.hpp"
#include "kempe/kinematics.hpp"
#include "kempe/mass_matrix.hpp"
#include "kempe/mechanism.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"
#include "kempe/momentum.hpp"
#include "kempe/operational_inertia.hpp"
#include "kempe/robots.hpp"
#include "kempe/version.hpp"
