import type { Personal } from '../../values/personal.ts'

export const cardsPersonal = {
  card_terms: {
    personal: {
      merchant_allowlist: { kind: 'payment', ground: 'contract' },
      merchant_blocklist: { kind: 'payment', ground: 'contract' },
    },
    plain: ['allowed_countries', 'allowed_mccs', 'blocked_mccs', 'mcc_categories'],
  },
  cards: {
    personal: {
      display_name: { kind: 'words', ground: 'contract' },
      frozen_reason: { kind: 'words', ground: 'contract' },
      closed_reason: { kind: 'words', ground: 'contract' },
      metadata: { kind: 'words', ground: 'contract' },
      brand: { kind: 'account', ground: 'payments' },
      last4: { kind: 'account', ground: 'payments' },
    },
    plain: ['usage', 'processor', 'number_id', 'processor_problem', 'next_number_id'],
  },
  card_numbers: {
    personal: {
      processor_card_id: { kind: 'account', ground: 'payments' },
      brand: { kind: 'account', ground: 'payments' },
      last4: { kind: 'account', ground: 'payments' },
    },
    plain: ['processor', 'processor_state', 'told_state'],
  },
} as const satisfies Personal
