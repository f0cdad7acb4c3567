import type Stripe from 'stripe'
import { z } from 'zod'
import { isProcessorFailure, type ProcessorFailure } from '../../../ports/card-processor.ts'
import type {
  CheckedPerson,
  IdentityCall,
  IdentityCheck,
  IdentityCheckStatus,
  IdentityNoticeHeaders,
  IdentityRejectionCode,
  IdentityVerification,
  ParsedIdentityNotice,
} from '../../../ports/identity-verification.ts'
import { STRIPE_TIMEOUTS, type StripeAccount, stripeCaller, UNUSABLE_ANSWER } from '../issuing/connection.ts'
import { stripeSignatureProblem } from '../issuing/signature.ts'
import { isSamePerson, VerifiedOutputs } from './same-person.ts'

/**
 * Stripe Identity: the person shows a document and their face at Stripe's page. A submission is one verification
 * session, found by the reference that it carries. No document and no image reaches this service.
 */
export function stripeIdentity(account: StripeAccount, patience = STRIPE_TIMEOUTS): IdentityVerification {
  const ask = stripeCaller(account, patience)
  return {
    name: 'stripe',
    decider: 'provider',
    takesDocuments: false,
    page: async (check, call) =>
      answerOf(await ask(async stripe => ({ url: (await findOrCreate(stripe, check, call)).url }))),
    submit: async (check, call) =>
      answerOf(
        await ask(async stripe => statusOf(stripe, await findOrCreate(stripe, check, call), check.person)),
      ),
    inquire: async ({ reference, person }) =>
      answerOf(
        await ask(async (stripe): Promise<IdentityCheckStatus | ProcessorFailure> => {
          const session = await find(stripe, reference)
          return session ? statusOf(stripe, session, person) : { status: 'unknown' }
        }),
      ),
    async redact(reference) {
      const answer = answerOf(await ask(stripe => redact(stripe, reference)))
      return typeof answer === 'string' ? answer : 'redacted'
    },
    recognizes: headers => headers['stripe-signature'] !== undefined,
    read: (body, headers, now) => readNotice(body, headers, now, account.webhookSecrets),
  }
}

/** A refusal of the request itself is for the operator to clear up, and is no decision about the person. */
function answerOf<T extends object>(answer: T | ProcessorFailure): T | 'late' | 'unusable' {
  if (!isProcessorFailure(answer)) return answer
  return answer.failure === 'late' ? 'late' : 'unusable'
}

const Session = z.object({
  id: z.string().min(1),
  status: z.string(),
  url: z.url().nullable(),
  last_error: z.object({ code: z.string().nullable() }).nullable(),
  redaction: z.object({ status: z.string() }).nullable(),
})
type Session = z.output<typeof Session>

async function find(stripe: Stripe, reference: string): Promise<Session | undefined> {
  const { data } = await stripe.identity.verificationSessions.list({
    client_reference_id: reference,
    limit: 1,
  })
  return Session.optional().parse(data[0])
}

/** Stripe forgets keys after a day, so the session is looked up first; the key joins concurrent creations. */
async function findOrCreate(
  stripe: Stripe,
  { reference }: IdentityCheck,
  { returnUrl }: IdentityCall,
): Promise<Session> {
  const found = await find(stripe, reference)
  if (found) return found
  const made = await stripe.identity.verificationSessions.create(
    {
      type: 'document',
      client_reference_id: reference,
      return_url: returnUrl,
      options: {
        document: {
          allowed_types: ['id_card', 'passport'],
          require_live_capture: true,
          require_matching_selfie: true,
        },
      },
    },
    { idempotencyKey: `identity/${reference}` },
  )
  return Session.parse(made)
}

const rejections: Readonly<Record<string, IdentityRejectionCode>> = {
  document_expired: 'document_expired',
  document_type_not_supported: 'document_not_accepted',
  country_not_supported: 'document_not_accepted',
  selfie_document_missing_photo: 'document_not_accepted',
  selfie_face_mismatch: 'document_not_accepted',
  document_unverified_other: 'document_unreadable',
  selfie_unverified_other: 'document_unreadable',
  selfie_manipulated: 'person_refused',
  under_supported_age: 'person_refused',
}

/** A person who went away, or whose device does not suffice, may go on with the same session. */
const UNFINISHED = new Set(['abandoned', 'device_not_supported', 'consent_declined'])

async function statusOf(
  stripe: Stripe,
  { id, status, last_error: error }: Session,
  person: CheckedPerson,
): Promise<IdentityCheckStatus | ProcessorFailure> {
  if (status === 'verified') return compare(stripe, id, person)
  if (status === 'canceled') return { status: 'rejected', code: 'other' }
  const code = error?.code
  if (status !== 'requires_input' || !code || UNFINISHED.has(code)) return { status: 'in_review' }
  // Another attempt is another submission: this session must not end otherwise later.
  await stripe.identity.verificationSessions.cancel(id)
  return { status: 'rejected', code: rejections[code] ?? 'other' }
}

/** Stripe has verified a person: it must be the one of the submission. */
async function compare(
  stripe: Stripe,
  id: string,
  person: CheckedPerson,
): Promise<IdentityCheckStatus | ProcessorFailure> {
  const expand = ['verified_outputs', 'verified_outputs.dob']
  const { verified_outputs } = await stripe.identity.verificationSessions.retrieve(id, { expand })
  const outputs = VerifiedOutputs.safeParse(verified_outputs).data
  if (!outputs) return UNUSABLE_ANSWER
  return isSamePerson(person, outputs)
    ? { status: 'verified' }
    : { status: 'rejected', code: 'data_mismatch' }
}

async function redact(stripe: Stripe, reference: string): Promise<object> {
  const session = await find(stripe, reference)
  if (!session || session.redaction) return {}
  return stripe.identity.verificationSessions.redact(session.id)
}

const Event = z.object({
  type: z.string(),
  data: z.object({ object: z.object({ client_reference_id: z.string().nullish() }) }),
})

/** Events carry no result: Stripe is asked for it. */
function readNotice(
  body: Uint8Array,
  headers: IdentityNoticeHeaders,
  now: Date,
  secrets: readonly string[],
): ParsedIdentityNotice {
  const reason = stripeSignatureProblem(body, headers['stripe-signature'], secrets, now)
  if (reason !== null) return { kind: 'unsigned', reason }
  const event = Event.safeParse(jsonOf(body)).data
  if (!event) return { kind: 'unreadable', reason: 'The body is not an event of Stripe.' }
  const reference = event.data.object.client_reference_id
  if (!event.type.startsWith('identity.verification_session.') || !reference) return { kind: 'ignored' }
  return { kind: 'notice', notice: { reference, status: { status: 'changed' } } }
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return undefined
  }
}
