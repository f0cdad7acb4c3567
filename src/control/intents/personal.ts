import type { KeptWhile, Personal } from '../../values/personal.ts'
import { isNotAbout, isUnpaidIntent } from '../../values/unpaid.ts'

/** What proves the approval of a payment goes with an intent that came to none; `named` gives its id. */
const whileOf = (named: string): KeptWhile => ({
  where: isNotAbout('intents', named, isUnpaidIntent),
  words: 'its intent was paid, or can still be',
})

/** Openings have the id of their approval. */
const INTENT_OF_OPENINGS =
  '(select a.intent_id from approvals a where (a.owner_id, a.mode, a.id) = (t.owner_id, t.mode, t.id))'

export const intentsPersonal = {
  intents: {
    personal: {
      merchant: { kind: 'payment', ground: 'payments', forget: 'word' },
      merchant_key: { kind: 'payment', ground: 'payments', forget: 'word' },
      likeness: { kind: 'payment', ground: 'payments', forget: 'word' },
      decision: {
        kind: 'payment',
        ground: 'payments',
        forget: { members: '{"reason":"[forgotten]","checks":[],"mandate":null}' },
      },
      purpose: { kind: 'words', ground: 'payments', forget: 'word' },
      comment: { kind: 'words', ground: 'payments', forget: 'word' },
      client_intent_id: { kind: 'words', ground: 'payments', forget: 'pseudonym' },
      metadata: { kind: 'words', ground: 'payments', forget: 'empty' },
      decided_by: { kind: 'name', ground: 'payments', forget: { members: '{"id":null,"name":null}' } },
      payee_iban: { kind: 'account', ground: 'payments', forget: 'word' },
    },
    plain: ['mcc', 'country', 'possible_duplicate_of', 'payment_id', 'payment_token_id', 'receipt_status'],
    keptWhile: { where: `not (${isUnpaidIntent('t')})`, words: 'it was paid, or can still be' },
    about: { person: ["decided_by ->> 'id'"], beneficiary: ['beneficiary_id'] },
  },
  approvals: {
    personal: {
      jws: { kind: 'payment', ground: 'payments', forget: 'word' },
    },
    plain: [],
    keptWhile: whileOf('t.intent_id'),
    about: {
      beneficiary: [
        '(select i.beneficiary_id from intents i where (i.owner_id, i.mode, i.id) = (t.owner_id, t.mode, t.intent_id))',
      ],
    },
  },
  approval_openings: {
    personal: {
      openings: { kind: 'name', ground: 'payments', forget: 'empty' },
    },
    plain: [],
    keptWhile: whileOf(INTENT_OF_OPENINGS),
  },
} as const satisfies Personal
