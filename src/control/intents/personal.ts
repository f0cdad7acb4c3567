import type { Personal } from '../../values/personal.ts'

export const intentsPersonal = {
  intents: {
    personal: {
      merchant: { kind: 'payment', ground: 'payments' },
      merchant_key: { kind: 'payment', ground: 'payments' },
      likeness: { kind: 'payment', ground: 'payments' },
      decision: { kind: 'payment', ground: 'payments' },
      purpose: { kind: 'words', ground: 'payments' },
      comment: { kind: 'words', ground: 'payments' },
      client_intent_id: { kind: 'words', ground: 'payments' },
      metadata: { kind: 'words', ground: 'payments' },
      decided_by: { kind: 'name', ground: 'payments' },
      payee_iban: { kind: 'account', ground: 'payments' },
    },
    plain: ['mcc', 'country', 'possible_duplicate_of', 'payment_id', 'payment_token_id', 'receipt_status'],
    about: { person: ["decided_by ->> 'id'"], beneficiary: ['beneficiary_id'] },
  },
  approvals: {
    personal: {
      jws: { kind: 'payment', ground: 'payments' },
    },
    plain: [],
  },
  approval_openings: {
    personal: {
      openings: { kind: 'name', ground: 'payments' },
    },
    plain: [],
  },
} as const satisfies Personal
