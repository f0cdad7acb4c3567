import { sandboxRail } from '../../../src/adapters/sepa-rail/sandbox.ts'
import { externalSystemsOf } from '../../../src/app/external-systems.ts'
import { readSettings } from '../../../src/platform/settings/settings.ts'
import type { Payment, RailCall, SepaRail } from '../../../src/ports/sepa-rail.ts'

type Method = keyof SepaRail

/** Where a call fails: before it reaches the rail, its answer on the way back, or by a time-out. */
export type Fault = 'before' | 'after' | 'late'

export interface RecordingRail {
  readonly rail: SepaRail
  readonly calls: readonly { readonly method: Method; readonly reference: string }[]
  /** The payments that the rail has accepted, each once, however often it was submitted. */
  taken(reference: string): number
  count(method: Method, reference: string): number
  /** The rail forgets what it has accepted. */
  forget(reference: string): void
  /** Makes calls fail like this: this many of them, or until the rail is restored. */
  break(method: Method, fault: Fault, times?: number): void
  mend(): void
  /** Runs while the rail has a call and has not answered yet. */
  meanwhile(method: Method, happens: (call: RailCall) => Promise<unknown>): void
}

/** The sandbox's rail with the memory of a real one: it knows what it was given, and nothing else. */
export function recordingRail(): RecordingRail {
  const sandbox = sandboxRail()
  const calls: { method: Method; reference: string }[] = []
  const taken = new Map<string, Payment[]>()
  const faults = new Map<Method, { fault: Fault; left: number }>()
  const between = new Map<Method, (call: RailCall) => Promise<unknown>>()

  function faultOf(method: Method): Fault | undefined {
    const broken = faults.get(method)
    if (!broken || broken.left-- <= 0) return undefined
    return broken.fault
  }

  async function through<T>(method: Method, call: RailCall, act: () => Promise<T>): Promise<T | 'late'> {
    calls.push({ method, reference: call.reference })
    const fault = faultOf(method)
    if (fault === 'before') throw new Error('the line is dead')
    const answer = await act()
    await between.get(method)?.(call)
    if (fault === 'after') throw new Error('the line died')
    return fault === 'late' ? 'late' : answer
  }

  function take(payment: Payment, { reference }: RailCall): void {
    const known = taken.get(reference) ?? []
    // The same reference is the same payment.
    if (known.every(one => one.endToEndId !== payment.endToEndId)) taken.set(reference, [...known, payment])
  }

  const rail: SepaRail = {
    ...sandbox,
    verifyPayee: (payee, call) => through('verifyPayee', call, () => sandbox.verifyPayee(payee, call)),
    submit: (payment, call) =>
      through('submit', call, () => {
        take(payment, call)
        return sandbox.submit(payment, call)
      }),
    statusOf: (payment, call) =>
      through('statusOf', call, async () =>
        taken.has(call.reference)
          ? sandbox.statusOf(payment, call)
          : ({ status: 'unknown', reasonCode: null } as const),
      ),
    recall: (payment, call) => through('recall', call, () => sandbox.recall(payment, call)),
  }
  return {
    rail,
    calls,
    taken: reference => taken.get(reference)?.length ?? 0,
    count: (method, reference) =>
      calls.filter(call => call.method === method && call.reference === reference).length,
    forget: reference => void taken.delete(reference),
    break: (method, fault, times = Number.POSITIVE_INFINITY) => faults.set(method, { fault, left: times }),
    mend: () => {
      faults.clear()
      between.clear()
    },
    meanwhile: (method, happens) => between.set(method, happens),
  }
}

const queueOfNobody = async (): Promise<never> => {
  throw new Error('there is no queue here')
}

/** The systems of others as an environment chooses them, without a service around them. */
export const outsideFor = (env: Readonly<Record<string, string>>) =>
  externalSystemsOf(readSettings(env), {
    put: queueOfNobody,
    standing: queueOfNobody,
    takeOut: queueOfNobody,
  })
