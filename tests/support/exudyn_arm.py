"""A planar arm of ANCF cable elements in Exudyn, released from a bent state: an independent, geometrically exact model.

Exudyn is optional: where it is not installed its tests are skipped and say so.
"""

import itertools

import numpy as np


def tip_path(links, starts, times, elements=12, step=1e-4):
    """Position of the tip, shape (T, 2), of links hinged in series to the origin, without gravity or torque.

    ``links`` are (length, bending stiffness, mass per length, axial stiffness); ``starts`` gives for each link a
    function from stations in [0, 1], shape (s,), to positions (s, 2) and directions (s, 2) of unit length. ``times``
    begin at 0 and end at a multiple of ``step``.
    """
    import exudyn
    import exudyn.itemInterface as items

    system = exudyn.SystemContainer().AddSystem()
    ground = system.AddObject(items.ObjectGround())
    before = system.AddMarker(items.MarkerBodyPosition(bodyNumber=ground))
    for (length, bending, line_mass, axial), start in zip(links, starts, strict=True):
        stations = np.linspace(0.0, 1.0, elements + 1)
        places, directions = start(stations)
        nodes = []
        for station, place, direction in zip(stations, places, directions, strict=True):
            straight = np.array([station * length, 0.0, 1.0, 0.0])
            bent = np.concatenate([place, direction])
            node = items.NodePoint2DSlope1(
                referenceCoordinates=straight.tolist(),
                initialCoordinates=(bent - straight).tolist(),
            )
            nodes.append(system.AddNode(node))
        for pair in itertools.pairwise(nodes):
            system.AddObject(
                items.ObjectANCFCable2D(
                    length=length / elements,
                    massPerLength=line_mass,
                    bendingStiffness=bending,
                    axialStiffness=axial,
                    nodeNumbers=list(pair),
                )
            )
        base = system.AddMarker(items.MarkerNodePosition(nodeNumber=nodes[0]))
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=[before, base]))
        before = system.AddMarker(items.MarkerNodePosition(nodeNumber=nodes[-1]))
    sensor = system.AddSensor(
        items.SensorNode(
            nodeNumber=nodes[-1],
            storeInternal=True,
            outputVariableType=exudyn.OutputVariableType.Position,
        )
    )
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(times[-1] / step)
    settings.timeIntegration.endTime = float(times[-1])
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = step
    settings.show.statistics = False
    system.SolveDynamic(settings)
    stored = np.asarray(system.GetSensorStoredData(sensor))
    assert abs(stored[-1, 0] - times[-1]) < 1e-9
    return np.stack([np.interp(times, stored[:, 0], stored[:, k]) for k in (1, 2)], axis=-1)
