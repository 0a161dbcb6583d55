/*
 * Loaded into a process before anything else, this makes its clock wrong by `FERRY_TEST_CLOCK_AHEAD_MS`. Timers and the
 * monotonic clock go on as they are, as on a machine whose time was set wrongly.
 */
const aheadMs = Number(process.env.FERRY_TEST_CLOCK_AHEAD_MS)
const RealDate = Date

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + aheadMs] : args, newTarget),
  apply: () => new RealDate(RealDate.now() + aheadMs).toString(),
  get: (target, key, receiver) =>
    key === 'now' ? () => RealDate.now() + aheadMs : Reflect.get(target, key, receiver),
})
