/**
 * SQL conditions by a row, for the files personal.ts of several areas: nothing was paid, so the law has nothing kept. Each names
 * the states of that, so that a state that comes later is kept.
 */

/** The card’s payment was declined, or is a machine payment that came to nothing, and no money has moved in spite of that. */
export const isUnpaidByCard = (row: string): string =>
  `(${row}.status = 'declined' or ${row}.status = 'void' and ${row}.transaction_id is null)
  and ${row}.captured_cents + ${row}.cleared_cents + ${row}.refunded_cents = 0`

/** The intent is over and was not paid, by a payment that the network told of later neither. */
export const isUnpaidIntent = (row: string): string =>
  `${row}.status in ('denied', 'cancelled', 'expired') and ${row}.transaction_id is null and ${row}.payment_id is null
  and not exists (select from card_authorizations p
    where (p.owner_id, p.mode, p.intent_id) = (${row}.owner_id, ${row}.mode, ${row}.id) and not (${isUnpaidByCard('p')}))`

/** The row is not about such a record of another table, whose id `named` gives. */
export const isNotAbout = (table: string, named: string, condition: (row: string) => string): string =>
  `not exists (select from ${table} o where (o.owner_id, o.mode, o.id) = (t.owner_id, t.mode, ${named}) and ${condition('o')})`
