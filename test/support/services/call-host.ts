import type { HostCalls } from './host.ts'

/** Set by the test environment. */
declare const callHostOfWorker: <C extends keyof HostCalls>(
  call: C,
  ...args: Parameters<HostCalls[C]>
) => ReturnType<HostCalls[C]>

export const callHost: typeof callHostOfWorker = (call, ...args) => callHostOfWorker(call, ...args)
