# Libraries that Kempe is compared with. Neither is needed to build it.
set(KEMPE_PINOCCHIO_ROOT "" CACHE PATH "Prefix that holds include/pinocchio")
set(KEMPE_MUJOCO_ROOT "" CACHE PATH "Folder of the Python package mujoco: include/ and libmujoco.so.*")

find_path(KEMPE_PINOCCHIO_INCLUDE pinocchio/algorithm/rnea.hpp HINTS ${KEMPE_PINOCCHIO_ROOT}/include)

# Headers only: none of the instantiations that come compiled with Pinocchio are linked. Boost's get
# must take types that the joints in use leave out.
set(KEMPE_PINOCCHIO_DEFINITIONS
    BOOST_MPL_LIMIT_LIST_SIZE=30 BOOST_MPL_LIMIT_VECTOR_SIZE=30 BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS
    BOOST_FUSION_INVOKE_MAX_ARITY=12 BOOST_VARIANT_USE_RELAXED_GET_BY_DEFAULT)
