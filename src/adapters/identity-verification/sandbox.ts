import { z } from 'zod'
import {
  type FinalIdentityStatus,
  type IdentityCheckStatus,
  type IdentityNotice,
  type IdentityRejectionCode,
  type IdentityVerification,
  identityRejectionCodes,
  type UnansweredIdentityCheck,
} from '../../ports/identity-verification.ts'
import { addMs, days, minutes } from '../../values/clock.ts'
import {
  hasSandboxSignature,
  sandboxSignatureHeaders,
  sandboxSignatureProblem,
} from '../card-processor/sandbox-signature.ts'

interface MagicRule {
  readonly fails?: { readonly forMs: number; readonly as: UnansweredIdentityCheck }
  readonly forgetsForMs?: number
  readonly reviewMs: number
  readonly end: FinalIdentityStatus
  readonly notices?: readonly FinalIdentityStatus[]
}

const VERIFIED: FinalIdentityStatus = { status: 'verified' }
const rejected = (code: IdentityRejectionCode): FinalIdentityStatus => ({ status: 'rejected', code })
const atOnce = (end: FinalIdentityStatus): MagicRule => ({ reviewMs: 0, end })

const ALWAYS = days(365 * 200)

/** By the beginning of the name, ignoring case; the first match counts. */
const rules: readonly (readonly [beginning: string, rule: MagicRule])[] = [
  ['Later rejected', { reviewMs: days(1), end: rejected('data_mismatch') }],
  ['Later', { reviewMs: days(1), end: VERIFIED }],
  ['Silent', { fails: { forMs: minutes(60), as: 'late' }, reviewMs: 0, end: VERIFIED }],
  ['Failing', { fails: { forMs: minutes(60), as: 'unusable' }, reviewMs: 0, end: VERIFIED }],
  ['Absent', { fails: { forMs: ALWAYS, as: 'late' }, reviewMs: 0, end: VERIFIED }],
  ['Forgotten', { forgetsForMs: minutes(10), reviewMs: minutes(10), end: VERIFIED }],
  ['Twice', { ...atOnce(VERIFIED), notices: [VERIFIED, VERIFIED] }],
  ['Contrary', { ...atOnce(VERIFIED), notices: [rejected('data_mismatch'), VERIFIED] }],
  ['Unreadable', atOnce(rejected('document_unreadable'))],
  ['Expired', atOnce(rejected('document_expired'))],
  ['Mismatch', atOnce(rejected('data_mismatch'))],
  ['Refused', atOnce(rejected('person_refused'))],
]

export const magicNamePrefixes: readonly string[] = rules.map(([beginning]) => beginning)

const ruleFor = (name: string): MagicRule =>
  rules.find(([beginning]) => `${name.toLowerCase()} `.startsWith(`${beginning.toLowerCase()} `))?.[1] ??
  atOnce(VERIFIED)

function answerAt(
  now: Date,
  { fails, forgetsForMs = 0, reviewMs, end }: MagicRule,
  submittedAt: Date,
  call: 'submit' | 'inquire',
): IdentityCheckStatus | UnansweredIdentityCheck {
  const passedMs = now.getTime() - submittedAt.getTime()
  if (fails && passedMs < fails.forMs) return fails.as
  if (call === 'inquire' && passedMs < forgetsForMs) return { status: 'unknown' }
  return passedMs < reviewMs ? { status: 'in_review', expectedAt: addMs(submittedAt, reviewMs) } : end
}

const MAX_BYTES = 4_096

const Notice = z.strictObject({
  reference: z.string().regex(/^[\w.:@-]{1,128}$/),
  status: z.discriminatedUnion('status', [
    z.strictObject({ status: z.literal('in_review') }),
    z.strictObject({ status: z.literal('changed') }),
    z.strictObject({ status: z.literal('verified') }),
    z.strictObject({ status: z.literal('rejected'), code: z.enum(identityRejectionCodes) }),
  ]),
})

export const encodeIdentityNotice = (notice: IdentityNotice): string =>
  JSON.stringify(z.encode(Notice, notice))

/** The notice, or which member is wrong. Never quotes the input. */
export function parseIdentityNotice(body: Uint8Array): IdentityNotice | { readonly problem: string } {
  if (body.length > MAX_BYTES) return { problem: `The body has more than ${MAX_BYTES} bytes.` }
  const { data, error } = Notice.safeParse(jsonOf(body))
  return data ?? { problem: `${error.issues[0]?.path.join('.') || 'body'}: it is invalid.` }
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

const HEADER = 'identity-provider-signature'

type Secrets = readonly Buffer[]

interface SignedNotice {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export type DeliverIdentityNotice = (notice: SignedNotice, requestId: string) => Promise<void>

export function signIdentityNotice(secrets: Secrets, notice: IdentityNotice): SignedNotice {
  const body = encodeIdentityNotice(notice)
  return {
    body,
    headers: { 'content-type': 'application/json', ...sandboxSignatureHeaders(secrets, body, HEADER) },
  }
}

/** A simulated provider, which stores nothing: the person's name decides. */
export const sandboxIdentity = (secrets: Secrets, deliver: DeliverIdentityNotice): IdentityVerification => ({
  name: 'sandbox',
  decider: 'provider',
  takesDocuments: true,
  page: async ({ reference }) => ({ url: `https://identity.example/verify/${reference}` }),
  redact: null,
  async submit(check, call) {
    const { reference, person, submittedAt } = check
    const rule = ruleFor(person.name)
    for (const status of rule.notices ?? [])
      await deliver(signIdentityNotice(secrets, { reference, status }), call.requestId)
    return answerAt(call.now, rule, submittedAt, 'submit')
  },
  inquire: async ({ person, submittedAt }, { now }) =>
    answerAt(now, ruleFor(person.name), submittedAt, 'inquire'),
  recognizes: headers => hasSandboxSignature(headers, HEADER),
  read(body, headers, now) {
    const unsigned = sandboxSignatureProblem(secrets, body, headers, now, HEADER)
    if (unsigned) return { kind: 'unsigned', reason: unsigned }
    const notice = parseIdentityNotice(body)
    return 'problem' in notice ? { kind: 'unreadable', reason: notice.problem } : { kind: 'notice', notice }
  },
})
