import type { IdentityNotice, IdentityVerification } from '../../ports/identity-verification.ts'
import { hasSignature, signatureHeaders, signatureProblem } from '../card-processor/sandbox-signature.ts'
import { answerAt, ruleFor } from './magic-names.ts'
import { parsed, written } from './sandbox-wire.ts'

const HEADER = 'identity-provider-signature'

/** The current secret first, then those that it was before. */
type Secrets = readonly Buffer[]

interface SignedNotice {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** Hands a signed notice in by the door of the provider. */
export type DeliverNotice = (notice: SignedNotice, requestId: string) => Promise<void>

export function signedNotice(secrets: Secrets, notice: IdentityNotice): SignedNotice {
  const body = written(notice)
  return {
    body,
    headers: { 'content-type': 'application/json', ...signatureHeaders(secrets, body, HEADER) },
  }
}

/** A simulated provider, which keeps nothing: the name of the person decides. */
export const sandboxIdentity = (secrets: Secrets, deliver: DeliverNotice): IdentityVerification => ({
  name: 'sandbox',
  isManual: false,
  async submit(check, call) {
    const { reference, person, submittedAt } = check
    const rule = ruleFor(person.name)
    for (const status of rule.notices ?? [])
      await deliver(signedNotice(secrets, { reference, status }), call.requestId)
    return answerAt(call.now, rule, submittedAt, 'submit')
  },
  inquire: async ({ person, submittedAt }, { now }) =>
    answerAt(now, ruleFor(person.name), submittedAt, 'inquire'),
  recognizes: headers => hasSignature(headers, HEADER),
  read(body, headers, now) {
    const unsigned = signatureProblem(secrets, body, headers, now, HEADER)
    if (unsigned) return { kind: 'unsigned', reason: unsigned }
    const notice = parsed(body)
    return 'problem' in notice ? { kind: 'unreadable', reason: notice.problem } : { kind: 'notice', notice }
  },
})
