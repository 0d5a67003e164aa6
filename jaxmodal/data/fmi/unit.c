/* The functions of FMI 3.0 for one model x' = f(x, u), y = g(x, u): model exchange, and co-simulation with inputs held,
 * by the classical Runge-Kutta method of order 4, or by that of Dormand and Prince of order 5, whose steps follow the
 * error that its method of order 4 shows. The model is in model.c. C99; nothing but instances is allocated. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } Status;
typedef uint32_t Reference;
typedef const char *Text;
typedef void (*Log)(void *environment, Status status, const char *category, const char *message);

/* references of values: time, then inputs, states, their derivatives, outputs */
#define FIRST_INPUT 1
#define FIRST_STATE (FIRST_INPUT + MODEL_INPUTS)
#define FIRST_RATE (FIRST_STATE + MODEL_STATES)
#define FIRST_OUTPUT (FIRST_RATE + MODEL_STATES)
#define LAST (FIRST_OUTPUT + MODEL_OUTPUTS)

/* size of a state of a linear system, relative to the largest of all, that is rounding */
#define NEGLIGIBLE 1e-6

typedef enum { INSTANTIATED, INITIALIZING, RUNNING, ENDED } Phase;

typedef struct {
    double time;
    double input[MODEL_INPUTS];
    double state[MODEL_STATES];
    double largest[MODEL_STATES]; /* size of each state so far, in steps that follow their error */
    Phase phase;
    bool steps; /* co-simulation */
    double tolerance, trial; /* of a step that follows its error, and its next size */
    void *environment;
    Log log;
} Unit;

static Status failed(const Unit *unit, const char *message)
{
    if (unit->log)
        unit->log(unit->environment, ERROR, "logStatusError", message);
    return ERROR;
}

static void begin(Unit *unit)
{
    unit->time = 0.0;
    memset(unit->input, 0, sizeof unit->input);
    memcpy(unit->state, model_start, sizeof unit->state);
    memset(unit->largest, 0, sizeof unit->largest);
    unit->tolerance = MODEL_TOLERANCE;
    unit->trial = MODEL_STEP;
    unit->phase = INSTANTIATED;
}

static void *instantiated(const char *token, bool steps, void *environment, Log log)
{
    Unit *unit;
    if (!token || strcmp(token, MODEL_TOKEN) != 0) {
        if (log)
            log(environment, ERROR, "logStatusError", "The instantiation token is that of another unit.");
        return NULL;
    }
    unit = malloc(sizeof *unit);
    if (!unit)
        return NULL;
    unit->steps = steps;
    unit->environment = environment;
    unit->log = log;
    begin(unit);
    return unit;
}

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

EXPORT Status fmi3SetDebugLogging(void *instance, bool on, size_t count, const char *const categories[])
{
    (void)instance, (void)on, (void)count, (void)categories;
    return OK;
}

EXPORT void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible,
                                          bool logging, void *environment, Log log)
{
    (void)name, (void)resources, (void)visible, (void)logging;
    return instantiated(token, false, environment, log);
}

EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
                                         bool logging, bool events, bool early, const Reference intermediate[],
                                         size_t count, void *environment, Log log, void (*update)(void))
{
    (void)name, (void)resources, (void)visible, (void)logging, (void)events, (void)early, (void)intermediate;
    (void)count, (void)update;
    return instantiated(token, true, environment, log);
}

EXPORT void *fmi3InstantiateScheduledExecution(const char *name, const char *token, const char *resources, bool visible,
                                               bool logging, void *environment, Log log, void (*clock)(void),
                                               void (*lock)(void), void (*unlock)(void))
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)environment, (void)log, (void)clock;
    (void)lock, (void)unlock;
    return NULL;
}

EXPORT void fmi3FreeInstance(void *instance) { free(instance); }

EXPORT Status fmi3EnterInitializationMode(void *instance, bool tolerant, double tolerance, double start, bool stops,
                                          double stop)
{
    Unit *unit = instance;
    (void)stops, (void)stop;
    if (tolerant && tolerance > 0.0 && MODEL_TOLERANCE > 0.0)
        unit->tolerance = tolerance;
    unit->time = start;
    unit->phase = INITIALIZING;
    return OK;
}

EXPORT Status fmi3ExitInitializationMode(void *instance)
{
    ((Unit *)instance)->phase = RUNNING;
    return OK;
}

EXPORT Status fmi3Terminate(void *instance)
{
    ((Unit *)instance)->phase = ENDED;
    return OK;
}

EXPORT Status fmi3Reset(void *instance)
{
    begin(instance);
    return OK;
}

/* modes between which nothing happens */
#define MODE(name) \
    EXPORT Status name(void *instance) \
    { \
        (void)instance; \
        return OK; \
    }
MODE(fmi3EnterEventMode)
MODE(fmi3EnterContinuousTimeMode)
MODE(fmi3EnterStepMode)
MODE(fmi3EnterConfigurationMode)
MODE(fmi3ExitConfigurationMode)
MODE(fmi3EvaluateDiscreteStates)

EXPORT Status fmi3GetFloat64(void *instance, const Reference references[], size_t count, double values[], size_t size)
{
    const Unit *unit = instance;
    double rates[MODEL_STATES], outputs[MODEL_OUTPUTS];
    bool moved = false, seen = false;
    if (count != size)
        return failed(unit, "fmi3GetFloat64: as many values as references are needed.");
    for (size_t k = 0; k < count; k++) {
        const Reference at = references[k];
        if (at >= FIRST_OUTPUT && !seen) {
            model_outputs(unit->state, unit->input, outputs);
            seen = true;
        } else if (at >= FIRST_RATE && at < FIRST_OUTPUT && !moved) {
            if (model_derivatives(unit->state, unit->input, rates) != 0)
                return failed(unit, "The inertia matrix has lost its definiteness.");
            moved = true;
        }
        if (at >= LAST)
            return failed(unit, "fmi3GetFloat64: there is no such value reference.");
        if (at == 0)
            values[k] = unit->time;
        else if (at < FIRST_STATE)
            values[k] = unit->input[at - FIRST_INPUT];
        else if (at < FIRST_RATE)
            values[k] = unit->state[at - FIRST_STATE];
        else if (at < FIRST_OUTPUT)
            values[k] = rates[at - FIRST_RATE];
        else
            values[k] = outputs[at - FIRST_OUTPUT];
    }
    return OK;
}

EXPORT Status fmi3SetFloat64(void *instance, const Reference references[], size_t count, const double values[],
                             size_t size)
{
    Unit *unit = instance;
    if (count != size)
        return failed(unit, "fmi3SetFloat64: as many values as references are needed.");
    for (size_t k = 0; k < count; k++) {
        const Reference at = references[k];
        if (!isfinite(values[k]))
            return failed(unit, "fmi3SetFloat64: a value is not finite.");
        if (at >= FIRST_INPUT && at < FIRST_STATE)
            unit->input[at - FIRST_INPUT] = values[k];
        else if (at >= FIRST_STATE && at < FIRST_RATE && unit->phase < RUNNING)
            unit->state[at - FIRST_STATE] = values[k];
        else
            return failed(unit, "fmi3SetFloat64: inputs alone are set, and states until initialization ends.");
    }
    return OK;
}

/* there are no variables of other types, so that no references of theirs are right */
#define NONE(name, type) \
    EXPORT Status fmi3Get##name(void *instance, const Reference references[], size_t count, type values[], size_t size) \
    { \
        (void)references, (void)values, (void)size; \
        return count ? failed(instance, "fmi3Get" #name ": all variables are Float64.") : OK; \
    } \
    EXPORT Status fmi3Set##name(void *instance, const Reference references[], size_t count, const type values[], \
                                size_t size) \
    { \
        (void)references, (void)values, (void)size; \
        return count ? failed(instance, "fmi3Set" #name ": all variables are Float64.") : OK; \
    }
NONE(Float32, float)
NONE(Int8, int8_t)
NONE(UInt8, uint8_t)
NONE(Int16, int16_t)
NONE(UInt16, uint16_t)
NONE(Int32, int32_t)
NONE(UInt32, uint32_t)
NONE(Int64, int64_t)
NONE(UInt64, uint64_t)
NONE(Boolean, bool)
NONE(String, Text)

EXPORT Status fmi3GetBinary(void *instance, const Reference references[], size_t count, size_t sizes[],
                            const uint8_t *values[], size_t size)
{
    (void)references, (void)sizes, (void)values, (void)size;
    return count ? failed(instance, "fmi3GetBinary: all variables are Float64.") : OK;
}

EXPORT Status fmi3SetBinary(void *instance, const Reference references[], size_t count, const size_t sizes[],
                            const uint8_t *const values[], size_t size)
{
    (void)references, (void)sizes, (void)values, (void)size;
    return count ? failed(instance, "fmi3SetBinary: all variables are Float64.") : OK;
}

EXPORT Status fmi3GetClock(void *instance, const Reference references[], size_t count, bool values[])
{
    (void)references, (void)values;
    return count ? failed(instance, "fmi3GetClock: there are no clocks.") : OK;
}

EXPORT Status fmi3SetClock(void *instance, const Reference references[], size_t count, const bool values[])
{
    (void)references, (void)values;
    return count ? failed(instance, "fmi3SetClock: there are no clocks.") : OK;
}

/* what the description says that the unit cannot */
#define CANNOT(name) \
    EXPORT Status name(void *instance) { return failed(instance, #name ": the unit has no such capability."); }
CANNOT(fmi3GetNumberOfVariableDependencies)
CANNOT(fmi3GetVariableDependencies)
CANNOT(fmi3GetFMUState)
CANNOT(fmi3SetFMUState)
CANNOT(fmi3FreeFMUState)
CANNOT(fmi3SerializedFMUStateSize)
CANNOT(fmi3SerializeFMUState)
CANNOT(fmi3DeserializeFMUState)
CANNOT(fmi3GetDirectionalDerivative)
CANNOT(fmi3GetAdjointDerivative)
CANNOT(fmi3GetIntervalDecimal)
CANNOT(fmi3GetIntervalFraction)
CANNOT(fmi3GetShiftDecimal)
CANNOT(fmi3GetShiftFraction)
CANNOT(fmi3SetIntervalDecimal)
CANNOT(fmi3SetIntervalFraction)
CANNOT(fmi3SetShiftDecimal)
CANNOT(fmi3SetShiftFraction)
CANNOT(fmi3GetOutputDerivatives)
CANNOT(fmi3ActivateModelPartition)

EXPORT Status fmi3UpdateDiscreteStates(void *instance, bool *again, bool *terminate, bool *nominals, bool *states,
                                       bool *next, double *time)
{
    (void)instance;
    *again = *terminate = *nominals = *states = *next = false;
    *time = 0.0;
    return OK;
}

/* model exchange */

EXPORT Status fmi3CompletedIntegratorStep(void *instance, bool final, bool *event, bool *terminate)
{
    (void)instance, (void)final;
    *event = *terminate = false;
    return OK;
}

EXPORT Status fmi3SetTime(void *instance, double time)
{
    ((Unit *)instance)->time = time;
    return OK;
}

EXPORT Status fmi3GetNumberOfContinuousStates(void *instance, size_t *count)
{
    (void)instance;
    *count = MODEL_STATES;
    return OK;
}

EXPORT Status fmi3GetNumberOfEventIndicators(void *instance, size_t *count)
{
    (void)instance;
    *count = 0;
    return OK;
}

EXPORT Status fmi3GetEventIndicators(void *instance, double indicators[], size_t count)
{
    (void)indicators;
    return count ? failed(instance, "fmi3GetEventIndicators: there are none.") : OK;
}

EXPORT Status fmi3GetContinuousStates(void *instance, double states[], size_t count)
{
    if (count != MODEL_STATES)
        return failed(instance, "fmi3GetContinuousStates: another number of states.");
    memcpy(states, ((Unit *)instance)->state, sizeof ((Unit *)instance)->state);
    return OK;
}

EXPORT Status fmi3SetContinuousStates(void *instance, const double states[], size_t count)
{
    if (count != MODEL_STATES)
        return failed(instance, "fmi3SetContinuousStates: another number of states.");
    memcpy(((Unit *)instance)->state, states, sizeof ((Unit *)instance)->state);
    return OK;
}

EXPORT Status fmi3GetContinuousStateDerivatives(void *instance, double rates[], size_t count)
{
    const Unit *unit = instance;
    if (count != MODEL_STATES)
        return failed(unit, "fmi3GetContinuousStateDerivatives: another number of states.");
    if (model_derivatives(unit->state, unit->input, rates) != 0)
        return failed(unit, "The inertia matrix has lost its definiteness.");
    return OK;
}

EXPORT Status fmi3GetNominalsOfContinuousStates(void *instance, double nominals[], size_t count)
{
    if (count != MODEL_STATES)
        return failed(instance, "fmi3GetNominalsOfContinuousStates: another number of states.");
    for (size_t k = 0; k < count; k++)
        nominals[k] = model_nominal[k];
    return OK;
}

/* co-simulation */

static int runge_kutta_4(Unit *unit, double step)
{
    static const double places[4] = {0.0, 0.5, 0.5, 1.0}, weights[4] = {1.0, 2.0, 2.0, 1.0};
    double slope[MODEL_STATES] = {0.0}, at[MODEL_STATES], sum[MODEL_STATES] = {0.0};
    for (int stage = 0; stage < 4; stage++) {
        for (int k = 0; k < MODEL_STATES; k++)
            at[k] = unit->state[k] + places[stage] * step * slope[k];
        if (model_derivatives(at, unit->input, slope) != 0)
            return 1;
        for (int k = 0; k < MODEL_STATES; k++)
            sum[k] += weights[stage] / 6.0 * slope[k];
    }
    for (int k = 0; k < MODEL_STATES; k++) {
        unit->state[k] += step * sum[k];
        if (!isfinite(unit->state[k]))
            return 2;
    }
    return 0;
}

static int fixed_steps(Unit *unit, double span, double *passed)
{
    const double count = ceil(span / MODEL_STEP * (1.0 - 1e-12));
    if (!isfinite(count))
        return 2;
    for (double k = 0.0; k < count; k += 1.0) {
        const int status = runge_kutta_4(unit, span / count);
        if (status != 0)
            return status;
        *passed = span * ((k + 1.0) / count);
    }
    return 0;
}

/* The largest size of each state so far, with the step to `next`; returns the largest of all. */
static double sizes(const Unit *unit, const double next[], double largest[])
{
    double all = 0.0;
    for (int k = 0; k < MODEL_STATES; k++) {
        largest[k] = fmax(unit->largest[k], fmax(fabs(unit->state[k]), fabs(next[k])));
        all = fmax(all, largest[k]);
    }
    return all;
}

/* One step of Dormand and Prince to `next`, and its error over what is allowed: relative to the largest size so far for
 * states of a linear system, whose units are unknown, and absolute in rad, m and their rates for those of an arm. */
static int dormand_prince(const Unit *unit, double step, double next[], double *error)
{
    static const double at[6][6] = {
        {1.0 / 5.0},
        {3.0 / 40.0, 9.0 / 40.0},
        {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
        {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
        {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
        {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
    };
    static const double less[7] = {71.0 / 57600.0,      0.0,          -71.0 / 16695.0, 71.0 / 1920.0,
                                   -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};
    double slopes[7][MODEL_STATES], largest[MODEL_STATES], all, sum = 0.0;
    if (model_derivatives(unit->state, unit->input, slopes[0]) != 0)
        return 1;
    for (int stage = 0; stage < 6; stage++) {
        for (int k = 0; k < MODEL_STATES; k++) {
            next[k] = unit->state[k];
            for (int j = 0; j <= stage; j++)
                next[k] += step * at[stage][j] * slopes[j][k];
        }
        if (model_derivatives(next, unit->input, slopes[stage + 1]) != 0)
            return 1;
    }
    all = sizes(unit, next, largest);
    for (int k = 0; k < MODEL_STATES; k++) {
        const double size = MODEL_LINEAR ? largest[k] + NEGLIGIBLE * all
                                         : 1.0 + fmax(fabs(unit->state[k]), fabs(next[k]));
        const double allowed = unit->tolerance * size;
        double away = 0.0;
        for (int j = 0; j < 7; j++)
            away += step * less[j] * slopes[j][k];
        if (allowed > 0.0 || away != 0.0)
            sum += away / allowed * (away / allowed);
    }
    *error = sqrt(sum / MODEL_STATES);
    return 0;
}

static int following_steps(Unit *unit, double span, double *passed)
{
    double next[MODEL_STATES], error;
    while (*passed < span) {
        const double left = span - *passed, step = fmin(unit->trial, left);
        const int status = dormand_prince(unit, step, next, &error);
        /* what is no number is a step far too long */
        double factor = status == 0 && isfinite(error) ? 0.9 * pow(fmax(error, 1e-10), -0.2) : 0.1;
        factor = fmin(fmax(factor, 0.1), 5.0);
        if (status == 0 && error <= 1.0) {
            sizes(unit, next, unit->largest);
            memcpy(unit->state, next, sizeof unit->state);
            *passed = step < left ? *passed + step : span;
            if (step == unit->trial || factor < 1.0)
                unit->trial = step * factor;
        } else {
            unit->trial = step * fmin(factor, 0.9);
        }
        if (!(unit->trial > 1e-14 * span))
            return status == 1 ? 1 : 3;
    }
    return 0;
}

EXPORT Status fmi3DoStep(void *instance, double time, double size, bool final, bool *event, bool *terminate, bool *early,
                         double *reached)
{
    static const char *const reasons[] = {
        "The inertia matrix has lost its definiteness.",
        "A state is no longer finite: the step is too long for this arm.",
        "No step is short enough for the tolerance.",
    };
    Unit *unit = instance;
    double passed = 0.0;
    int status;
    (void)final;
    *event = *terminate = *early = false;
    *reached = time;
    if (!unit->steps || !(size > 0.0) || !isfinite(size))
        return failed(unit, "fmi3DoStep: needs an instance for co-simulation and a step above 0.");
    status = unit->tolerance > 0.0 ? following_steps(unit, size, &passed) : fixed_steps(unit, size, &passed);
    *reached = time + passed;
    if (status != 0)
        return failed(unit, reasons[status - 1]);
    unit->time = *reached = time + size;
    return OK;
}
