import type { Personal } from '../../values/personal.ts'
import { isNotAbout, isUnpaidByCard, isUnpaidIntent } from '../../values/unpaid.ts'

export const policiesPersonal = {
  policies: {
    personal: {
      name: { kind: 'words', ground: 'contract', forget: 'word' },
      merchant_allowlist: { kind: 'payment', ground: 'contract', forget: 'empty' },
      merchant_blocklist: { kind: 'payment', ground: 'contract', forget: 'empty' },
      overridden: { kind: 'payment', ground: 'contract', forget: 'empty' },
    },
    plain: [
      'template_id',
      'mcc_categories',
      'allowed_countries',
      'allowed_mccs',
      'blocked_mccs',
      'expiration_action',
    ],
  },
  policy_versions: {
    personal: {
      rules: { kind: 'payment', ground: 'contract', forget: 'empty' },
    },
    plain: ['policy_id', 'changed_by_type', 'changed_by_id'],
    about: { person: ['changed_by_id'] },
  },
  decisions: {
    personal: {
      request: { kind: 'payment', ground: 'payments', forget: 'empty' },
      counters: { kind: 'payment', ground: 'payments', forget: 'empty' },
      result: { kind: 'payment', ground: 'payments', forget: 'empty' },
    },
    plain: ['subject_type', 'subject_id', 'policy_id'],
    keptWhile: {
      where: `${isNotAbout('intents', 't.subject_id', isUnpaidIntent)}
        and ${isNotAbout('card_authorizations', 't.subject_id', isUnpaidByCard)}`,
      words: 'what it decided was paid, or can still be',
    },
    about: {
      beneficiary: [
        '(select i.beneficiary_id from intents i where (i.owner_id, i.mode, i.id) = (t.owner_id, t.mode, t.subject_id))',
      ],
    },
  },
  owner_budgets: {
    personal: {},
    plain: [],
  },
  counters: {
    personal: {
      first_merchant: { kind: 'payment', ground: 'contract', forget: 'word' },
    },
    plain: ['subject', 'period'],
  },
  reservations: {
    personal: {},
    plain: ['cause_type', 'cause_id', 'subjects'],
  },
} as const satisfies Personal
