import { guardedHttp } from '../../../src/adapters/guarded-http/guarded-http.ts'
import { sandboxSepaRail } from '../../../src/adapters/sepa-rail/sandbox.ts'
import { createExternalSystems } from '../../../src/app/external-systems.ts'
import { readSettings } from '../../../src/platform/settings/settings.ts'
import type { SepaPayment, SepaRail, SepaRailCall } from '../../../src/ports/sepa-rail.ts'
import { IN_GERMANY } from '../services/settings.ts'

type Method = keyof SepaRail

/** When a call fails: before it reaches the rail, on the way back, or by a timeout. */
export type Fault = 'before' | 'after' | 'late'

export interface RecordingRail {
  readonly rail: SepaRail
  readonly calls: readonly { readonly method: Method; readonly reference: string }[]
  /** The number of different payments that the rail accepted; a repeated submission counts once. */
  acceptedCount(reference: string): number
  count(method: Method, reference: string): number
  forget(reference: string): void
  break(method: Method, fault: Fault, times?: number): void
  restore(): void
  /** Runs this while a call is at the rail and not yet answered. */
  meanwhile(method: Method, action: (call: SepaRailCall) => Promise<unknown>): void
}

/** The sandbox's rail with the memory of a real one: it only knows submitted payments. */
export function recordingRail(): RecordingRail {
  const sandbox = sandboxSepaRail()
  const calls: { method: Method; reference: string }[] = []
  const accepted = new Map<string, SepaPayment[]>()
  const faults = new Map<Method, { fault: Fault; left: number }>()
  const actions = new Map<Method, (call: SepaRailCall) => Promise<unknown>>()

  function faultOf(method: Method): Fault | undefined {
    const broken = faults.get(method)
    if (!broken || broken.left-- <= 0) return undefined
    return broken.fault
  }

  async function record<T>(method: Method, call: SepaRailCall, act: () => Promise<T>): Promise<T | 'late'> {
    calls.push({ method, reference: call.reference })
    const fault = faultOf(method)
    if (fault === 'before') throw new Error('the line is dead')
    const answer = await act()
    await actions.get(method)?.(call)
    if (fault === 'after') throw new Error('the line died')
    return fault === 'late' ? 'late' : answer
  }

  function accept(payment: SepaPayment, { reference }: SepaRailCall): void {
    const payments = accepted.get(reference) ?? []
    // A submission of the same payment is a repetition.
    if (payments.every(({ endToEndId }) => endToEndId !== payment.endToEndId))
      accepted.set(reference, [...payments, payment])
  }

  const rail: SepaRail = {
    ...sandbox,
    verifyPayee: (payee, call) => record('verifyPayee', call, () => sandbox.verifyPayee(payee, call)),
    submit: (payment, call) =>
      record('submit', call, () => {
        accept(payment, call)
        return sandbox.submit(payment, call)
      }),
    statusOf: (payment, call) =>
      record('statusOf', call, async () =>
        accepted.has(call.reference)
          ? sandbox.statusOf(payment, call)
          : ({ status: 'unknown', reasonCode: null } as const),
      ),
    recall: (payment, call) => record('recall', call, () => sandbox.recall(payment, call)),
  }
  return {
    rail,
    calls,
    acceptedCount: reference => accepted.get(reference)?.length ?? 0,
    count: (method, reference) =>
      calls.filter(call => call.method === method && call.reference === reference).length,
    forget: reference => void accepted.delete(reference),
    break: (method, fault, times = Number.POSITIVE_INFINITY) => faults.set(method, { fault, left: times }),
    restore: () => {
      faults.clear()
      actions.clear()
    },
    meanwhile: (method, action) => actions.set(method, action),
  }
}

const unusedQueue = async (): Promise<never> => {
  throw new Error('there is no queue here')
}

export const externalSystemsFor = (env: Readonly<Record<string, string>>) =>
  createExternalSystems(
    { ...readSettings({ ...IN_GERMANY, ...env }), encryptionKey: '0'.repeat(64) },
    {
      put: unusedQueue,
      statusOf: unusedQueue,
      remove: unusedQueue,
    },
    { cards: async () => null, identity: async () => undefined, oldRates: () => undefined },
    guardedHttp(),
  )
