import { z } from 'zod'
import { bicSchema } from '../../values/bic.ts'
import { ibanSchema } from '../../values/iban.ts'
import { cutoffTimesSetting, documentSetting, integerSetting, patternSetting } from './setting.ts'

export const moneySettings = {
  bankCode: documentSetting(patternSetting(/^\d{8}$/).default('99990001'), {
    meaning: 'German bank code in the IBANs of test wallets. The default belongs to no real bank.',
    allowed: 'eight digits',
  }),
  bankBic: documentSetting(patternSetting(/^[A-Z]{4}DE[A-Z0-9]{2}([A-Z0-9]{3})?$/).default('AGPYDEF0XXX'), {
    meaning: 'BIC of `BANK_CODE`.',
    allowed: 'a German BIC',
  }),
  collectionIban: documentSetting(ibanSchema.optional(), {
    meaning:
      'Bank account that receives and pays out live money. Its bank’s files arrive through `POST /rails/sepa`.',
    allowed: 'an IBAN of the SEPA area',
    otherwise: 'none: no account for live money is shown',
  }),
  collectionBic: documentSetting(bicSchema.optional(), {
    meaning: 'BIC of `COLLECTION_IBAN`. Payers within SEPA do not need it.',
    allowed: 'a BIC',
    otherwise: 'none',
  }),
  accountHolder: documentSetting(z.string().min(1).max(70).default('Agent Payments'), {
    meaning: 'Account holder that payers see in bank details.',
    allowed: '1 to 70 characters',
  }),
  sepaRail: documentSetting(z.enum(['sandbox', 'files']).optional(), {
    meaning:
      'Rail of SEPA payments in live mode. `files` exchanges ISO 20022 files with the bank of `COLLECTION_IBAN`; `sandbox` simulates a bank.',
    allowed: 'sandbox, files',
    otherwise: 'none: live mode has no SEPA payments',
  }),
  sepaFolder: documentSetting(z.string().optional(), {
    meaning:
      'Directory shared by all workers and the bank’s client (for example EBICS), which fetches from `out` and delivers to `in`.',
    allowed: 'a directory',
    otherwise: 'none',
  }),
  sepaCutoffTimes: documentSetting(cutoffTimesSetting.default(['09:00', '12:00', '15:00']), {
    meaning:
      'When waiting payments become a file, on TARGET days, in Frankfurt time. Set them before the bank’s cut-off times.',
    allowed: 'times of day in ascending order (09:00,15:00)',
    otherwise: '09:00,12:00,15:00',
  }),
  sepaReportHours: documentSetting(integerSetting(0, 240).default(4), {
    meaning:
      'Hours of bank days within which the bank reports on a file (pain.002), or books one of its payments. `0`: the bank sends no reports.',
    allowed: '0 to 240',
  }),
  fundingRail: documentSetting(z.enum(['sandbox', 'stripe']).optional(), {
    meaning:
      'Processor of payment methods in live mode. `stripe` needs `STRIPE_SECRET_KEY` and `STRIPE_WEBHOOK_SECRET_EVENTS`; `sandbox` simulates one.',
    allowed: 'sandbox, stripe',
    otherwise: 'none: live mode has no payment methods',
  }),
  auditRetentionDays: documentSetting(integerSetting(1_825, 36_500).default(3_650), {
    meaning:
      'Minimum retention of audit trail entries, in days, before `POST /audit/purge`. In Germany books are kept for ten years, vouchers for eight.',
    allowed: '1825 to 36500',
  }),
  cardAuthTimeoutMs: documentSetting(integerSetting(100, 1_900).default(1_500), {
    meaning:
      'Timeout of a card authorization, in milliseconds. What is not decided by then is declined. Card networks wait two seconds.',
    allowed: '100 to 1900',
  }),
}
