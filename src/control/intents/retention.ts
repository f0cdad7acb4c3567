import { isAboutSql, type LegalRetention, type PersonalAdditions } from '../../values/personal.ts'

/** An SQL condition on a row: the intent has ended unpaid. It names those states, so that a state added later is kept. */
export const endedUnpaidSql = (row: string): string =>
  `${row}.status in ('denied', 'cancelled', 'expired') and ${row}.transaction_id is null and ${row}.payment_id is null`

/**
 * For a record about an intent: it is erased with one that was never paid. `named` gives the intent's id. Card payments,
 * which may come later, say the rest.
 */
export const keptWithIntent = (named: string): LegalRetention & { readonly where: string } => ({
  where: `not ${isAboutSql('intents', named, endedUnpaidSql)}`,
  words: 'its intent was paid, or can still be',
})

/** Openings have the id of their approval. */
export const INTENT_OF_OPENINGS =
  '(select a.intent_id from approvals a where (a.owner_id, a.mode, a.id) = (t.owner_id, t.mode, t.id))'

export const intentsPersonalAdditions: PersonalAdditions = {
  decisions: {
    unpaid: isAboutSql('intents', 't.subject_id', endedUnpaidSql),
    about: {
      beneficiary: [
        '(select i.beneficiary_id from intents i where (i.owner_id, i.mode, i.id) = (t.owner_id, t.mode, t.subject_id))',
      ],
    },
  },
  recorded_approvals: { keptWhile: keptWithIntent('t.intent_id') },
}
