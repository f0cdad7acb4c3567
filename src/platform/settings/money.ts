import { z } from 'zod'
import { bic } from '../../values/bic.ts'
import { iban } from '../../values/iban.ts'
import { about, cutOffs, integer, matching } from './setting.ts'

export const moneySettings = {
  bankCode: about(matching(/^\d{8}$/).default('99990001'), {
    meaning: 'German bank code in the IBANs of test wallets. The default is of no real bank.',
    allowed: 'eight digits',
  }),
  bankBic: about(matching(/^[A-Z]{4}DE[A-Z0-9]{2}([A-Z0-9]{3})?$/).default('AGPYDEF0XXX'), {
    meaning: 'BIC that goes with `BANK_CODE`.',
    allowed: 'a BIC of Germany',
  }),
  collectionIban: about(iban.optional(), {
    meaning:
      'Account to which live money is sent, and from which it leaves by files. Its bank’s files come in by `POST /rails/sepa`.',
    allowed: 'an IBAN of the SEPA area',
    otherwise: 'none: nobody is told where to send live money',
  }),
  collectionBic: about(bic.optional(), {
    meaning: 'BIC that goes with `COLLECTION_IBAN`. Within SEPA payers need none.',
    allowed: 'a BIC',
    otherwise: 'none',
  }),
  accountHolder: about(z.string().min(1).max(70).default('Agent Payments'), {
    meaning: 'In whose name the accounts are to which money is sent, as payers are told.',
    allowed: '1 to 70 characters',
  }),
  sepaRail: about(z.enum(['sandbox', 'files']).optional(), {
    meaning:
      'Rail of live mode’s SEPA payments. `files` exchanges files of ISO 20022 with the bank of `COLLECTION_IBAN`. `sandbox` only pretends: it is for rehearsals. Test mode always has it.',
    allowed: 'sandbox, files',
    otherwise: 'none: live mode has no SEPA payments',
  }),
  sepaFolder: about(z.string().optional(), {
    meaning:
      'Shared with the bank’s client (EBICS, for one) where `SEPA_RAIL` is `files`: it fetches from `out` in it and brings to `in`. All workers need the same one.',
    allowed: 'a directory',
    otherwise: 'none',
  }),
  sepaCutOffs: about(cutOffs.default(['09:00', '12:00', '15:00']), {
    meaning:
      'When the payments that wait become a file for the bank, on its working days, by the clock of Frankfurt. Before the bank’s own times.',
    allowed: 'times of day in their order (09:00,15:00)',
    otherwise: '09:00,12:00,15:00',
  }),
  fundingRail: about(z.enum(['sandbox']).optional(), {
    meaning:
      'Processor of live mode’s payment methods. `sandbox` only pretends: it is for rehearsals. Test mode always has it.',
    allowed: 'sandbox',
    otherwise: 'none: live mode has no payment methods',
  }),
  auditRetentionDays: about(integer(1_825, 36_500).default(3_650), {
    meaning:
      'Days for which entries of the audit trail are kept at least: `POST /audit/purge` removes none that is younger. Books and vouchers must be kept for ten and eight years in Germany.',
    allowed: '1825 to 36500',
  }),
  cardAnswerMs: about(integer(100, 1_900).default(1_500), {
    meaning:
      'Milliseconds within which a card authorization is answered. Card networks wait two seconds; what is not decided in time is declined, and undone.',
    allowed: '100 to 1900',
  }),
}
