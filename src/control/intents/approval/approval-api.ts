import { z } from 'zod'
import { approverRefusals } from '../../../identity/approvals/index.ts'
import { ChallengeRecord } from '../../../identity/passkeys/index.ts'
import { get, notFound, post, type RefusalSpec } from '../../../kernel/contract/operation.ts'
import { instant } from '../../../values/clock.ts'
import { id } from '../../../values/ids.ts'
import { intentDecisionRefusals, intentLookupRefusals } from '../schemas.ts'

const Opening = z.object({
  value: z.string().max(1_000),
  salt: z
    .string()
    .max(100)
    .meta({ examples: ['s3X0m1pVJ9dTq8wRzYb2kA'] }),
})

const ApprovalRecord = z
  .object({
    id: id('approval'),
    intentId: id('intent'),
    approvedAt: instant,
    jws: z.string().meta({
      description:
        'The proof: a JWS (EdDSA) that this service signs, with the `typ` `intent-approval`. It contains the statement, the passkey’s signature, the enrolled public key, and the time. If several people had to approve, its `typ` is `intent-approvals`, and it contains these of each, in the order of the approvals.',
      examples: ['eyJhbGciOiJFZERTQSIsImtpZCI6I….eyJvd25lcklkIjoi….c2ln'],
    }),
    openings: z.record(z.string().max(100), Opening).meta({
      // Four for the payment, and three for each of at most forty people.
      maxProperties: 124,
      description:
        'The values behind the proof’s commitments, by their place in it. A commitment is the SHA-256 of salt and value. An agent’s token gets only the payee’s name. Erased names are missing; the proof still verifies.',
      examples: [{ 'payee.name': { value: 'Bookshop', salt: 's3X0m1pVJ9dTq8wRzYb2kA' } }],
    }),
    keptUntil: z.iso
      .date()
      .meta({ description: 'Last day of the legal retention period.', examples: ['2036-12-31'] }),
  })
  .meta({ id: 'Approval' })

const person_mismatch: RefusalSpec = [400, 'personId: in the console you sign yourself. Leave it out.']

export const approvalApi = {
  challenge: post('/passkeys/intents/{intentId}/challenge', {
    summary: 'Get what a passkey signs to approve an intent',
    description:
      'Show `sentence` to the person, pass `options` to `navigator.credentials.get`, and send the result to `POST /intents/{id}/approve` as `webauthnAssertion.assertion`, with the `challengeId`. The passkey signs the amount, the largest amount that the policy tolerates, and the payee: if any of them changes, the signature is invalid. The challenge expires after five minutes and can be used once.',
    tag: 'Passkeys',
    requires: 'passkeys',
    callers: ['key'],
    scope: 'intents:approve',
    body: z.strictObject({
      personId: id('person').nullable().default(null).meta({
        description:
          'With a key: the person who must sign. Null: any approver. In the console, you sign yourself.',
      }),
    }),
    example: {},
    returns: [201, ChallengeRecord],
    fails: {
      ...intentDecisionRefusals,
      ...approverRefusals,
      person_not_found: notFound('person'),
      person_mismatch,
    },
  }),
  approval: get('/intents/{id}/approval', {
    summary: 'Get the proof of an approval',
    description:
      'Anyone can verify it years later without this service: `verifyApproval(proof, keys)` of the client needs only a saved copy of `/.well-known/jwks.json`. Any change makes the proof invalid. An approval by a key, a policy, a mandate or a signal has no proof.',
    callers: ['key', 'agent'],
    scope: 'intents:read',
    returns: [200, ApprovalRecord],
    fails: {
      ...intentLookupRefusals,
      approval_not_found: [404, 'No person has approved the intent with a passkey: there is no proof.'],
    },
  }),
}
