import type { ProcessorFailure } from '../../ports/card-processor.ts'
import { days, minutes } from '../../values/clock.ts'

/** Faults on demand, by the name of a card. Documented in docs/reference/card-sandbox.md. */

/** `confirm` is a person’s: while it fails, a shared payment token cannot be charged. */
export type SandboxProcessorCall =
  | 'issue'
  | 'state'
  | 'controls'
  | 'replace'
  | 'disclose'
  | 'token'
  | 'confirm'

interface Fault {
  readonly calls: readonly SandboxProcessorCall[]
  readonly failure: ProcessorFailure
  /** From the request for the card on; the name may give another duration. */
  readonly lastsMs: number
}

const ALWAYS = days(365 * 200)

const LATE: ProcessorFailure = { failure: 'late' }
const UNUSABLE: ProcessorFailure = { failure: 'unusable' }

const refused = (code: string, message: string): ProcessorFailure => ({ failure: 'refused', code, message })

const faults: ReadonlyMap<string, Fault> = new Map([
  ['late', { calls: ['issue'], failure: LATE, lastsMs: minutes(1) }],
  ['garbled', { calls: ['issue'], failure: UNUSABLE, lastsMs: minutes(1) }],
  [
    'refused',
    {
      calls: ['issue'],
      failure: refused('not_issued', 'The sandbox issues no card of this name.'),
      lastsMs: ALWAYS,
    },
  ],
  [
    'away',
    {
      calls: ['issue', 'state', 'controls', 'replace', 'disclose', 'token'],
      failure: LATE,
      lastsMs: minutes(60),
    },
  ],
  ['asks', { calls: ['confirm'], failure: LATE, lastsMs: minutes(2) }],
  [
    'fixed',
    {
      calls: ['state', 'controls', 'replace'],
      failure: refused('not_changeable', 'The sandbox changes no card of this name.'),
      lastsMs: ALWAYS,
    },
  ],
  [
    'hidden',
    {
      calls: ['disclose', 'token'],
      failure: refused('not_disclosed', 'The sandbox discloses no card of this name.'),
      lastsMs: ALWAYS,
    },
  ],
])

const NAME = /^sandbox (?<fault>[a-z]+)(?: (?<first>\d{1,6})(?:-(?<second>\d{1,6}))?)?(?: |$)/i

/** The fault that a name requests, encoded for the end of the card's id; empty if it requests none. */
export function encodeFault(displayName: string, requestedAt: Date): string {
  const { fault = '', first, second } = NAME.exec(displayName)?.groups ?? {}
  const kind = fault.toLowerCase()
  const known = faults.get(kind)
  if (!known) return ''
  const from = second === undefined ? 0 : minutes(Number(first))
  const until = first === undefined ? known.lastsMs : minutes(Number(second ?? first))
  const at = (milliseconds: number) => (requestedAt.getTime() + milliseconds).toString(36)
  return `_${kind}_${at(from)}_${at(until)}`
}

export const ENCODED_FAULT_PATTERN = '(?:_[a-z]+_[\\da-z]{1,11}_[\\da-z]{1,11})?'

export function injectedFailure(
  note: string,
  call: SandboxProcessorCall,
  now: Date,
): ProcessorFailure | null {
  const [, kind = '', from = '', until = ''] = note.split('_')
  const fault = faults.get(kind)
  const isNow = Number.parseInt(from, 36) <= now.getTime() && now.getTime() < Number.parseInt(until, 36)
  return fault?.calls.includes(call) && isNow ? fault.failure : null
}
