"""The functions of `jaxmodal.plots` that draw results, by the names of their classes and methods.

Plots know the results that they draw, so results know no plots. Nothing is imported before it is drawn.
"""

PICTURES = {
    "Arm.plot": "jaxmodal.plots.arms:draw_arm",
    "ArmFit.plot": "jaxmodal.plots.identification:draw_fit",
    "Buckling.plot": "jaxmodal.plots.at_rest:draw_buckling",
    "DampedModes.plot": "jaxmodal.plots.damped_modes:draw_damped_modes",
    "ExactShapes.animate": "jaxmodal.plots.modes:animate_mode",
    "FrequencyResponse.plot": "jaxmodal.plots.responses:draw_response",
    "ModeShapes.plot": "jaxmodal.plots.modes:draw_shapes",
    "MoveCrossings.plot": "jaxmodal.plots.speeds:draw_crossings",
    "MoveVibration.plot": "jaxmodal.plots.moves:draw_move",
    "NaturalFrequencies.plot": "jaxmodal.plots.frequencies:draw_frequencies",
    "PosturesAt.plot": "jaxmodal.plots.frequencies:draw_postures_at",
    "ResonanceMap.plot": "jaxmodal.plots.resonance_maps:draw_resonance_map",
    "Sensitivities.plot": "jaxmodal.plots.sensitivities:draw_sensitivities",
    "SpatialArm.plot": "jaxmodal.plots.spatial_arms:draw_spatial_arm",
    "SpatialEquilibrium.plot": "jaxmodal.plots.at_rest:draw_equilibrium_in_space",
    "SpatialModeShapes.plot": "jaxmodal.plots.modes:draw_spatial_shapes",
    "SpeedsToAvoid.plot": "jaxmodal.plots.speeds:draw_speeds",
    "StaticEquilibrium.plot": "jaxmodal.plots.at_rest:draw_equilibrium",
}
