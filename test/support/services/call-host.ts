import type { HostCalls } from './host.ts'

/** Set by the environment of the tests. */
declare const callHostOfWorker: <C extends keyof HostCalls>(
  call: C,
  ...args: Parameters<HostCalls[C]>
) => ReturnType<HostCalls[C]>

/** Calls the process in which the services of this worker run. */
export const callHost: typeof callHostOfWorker = (call, ...args) => callHostOfWorker(call, ...args)
