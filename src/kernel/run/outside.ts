import { clock } from '../../values/clock.ts'
import type { ApiCall } from '../contract/call.ts'
import { translated } from './plain.ts'
import type { OperationRuntime } from './runtime.ts'

interface OutsideCall<A, T> {
  readonly call: ApiCall
  readonly make: () => Promise<A>
  /** In a transaction. */
  readonly record: (answer: A) => Promise<T>
  /** In place of the call, where the process was paused and others may have taken over. */
  readonly whenLost: () => Promise<T>
}

/** The claim of a process on what it has reserved and committed: for as long as its lease is valid. */
export interface OutsideClaim {
  /** The lease of this process: what it has claimed is free once the process has died. */
  readonly holder: string
  readonly externalMs: number
  /**
   * Calls another system with no transaction open, and records its answer. One that the database cannot take is
   * recorded as soon as it can, for as long as the process lives.
   */
  call<A, T>(outside: OutsideCall<A, T>): Promise<T>
}

/** Runs work that calls other systems between transactions: for requests, and for the activities of runs. */
export async function claimOutside<T>(
  { lease, unrecordedAnswers }: OperationRuntime,
  work: (claim: OutsideClaim) => Promise<T>,
): Promise<T> {
  const holder = await translated(lease.hold())
  const left = Promise.withResolvers<never>()
  const claim = {
    holder,
    externalMs: 0,
    async call<A, C>({ call, make, record, whenLost }: OutsideCall<A, C>): Promise<C> {
      if (!(await lease.stillHolds(claim.holder))) {
        claim.holder = await lease.hold()
        return whenLost()
      }
      const began = clock.ticks()
      const answer = await make()
      claim.externalMs += clock.ticks() - began
      return unrecordedAnswers.record(call, () => record(answer), left.reject)
    },
  }
  return Promise.race([lease.during(work(claim)), left.promise])
}
