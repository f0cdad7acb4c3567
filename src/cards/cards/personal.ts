import type { Personal } from '../../values/personal.ts'

export const cardsPersonal = {
  card_terms: {
    personal: {
      merchant_allowlist: { kind: 'payment', ground: 'contract', forget: 'empty' },
      merchant_blocklist: { kind: 'payment', ground: 'contract', forget: 'empty' },
    },
    plain: ['allowed_countries', 'allowed_mccs', 'blocked_mccs', 'mcc_categories'],
  },
  cards: {
    personal: {
      display_name: { kind: 'words', ground: 'contract', forget: 'word' },
      frozen_reason: { kind: 'words', ground: 'contract', forget: 'word' },
      closed_reason: { kind: 'words', ground: 'contract', forget: 'word' },
      metadata: { kind: 'words', ground: 'contract', forget: 'empty' },
      brand: { kind: 'account', ground: 'payments', forget: 'word' },
      last4: { kind: 'account', ground: 'payments', forget: { value: '0000' } },
    },
    plain: ['usage', 'processor', 'number_id', 'processor_problem', 'next_number_id'],
  },
  card_numbers: {
    personal: {
      processor_card_id: { kind: 'account', ground: 'payments', forget: 'pseudonym' },
      brand: { kind: 'account', ground: 'payments', forget: 'word' },
      last4: { kind: 'account', ground: 'payments', forget: { value: '0000' } },
    },
    plain: ['processor', 'processor_state', 'told_state'],
  },
} as const satisfies Personal
