export const personalKinds = {
  name: 'The name of a person or company, or who did something.',
  contact: 'Where a person can be reached.',
  address: 'Where a person lives or is registered.',
  birth: 'When a person was born.',
  identity: 'What an identity document or a register says of a person.',
  account: 'An account or card that belongs to a person.',
  network: 'The network address from which a person has called.',
  device: 'A device or authenticator that belongs to a person.',
  payment: 'What a person has paid for, to whom, and how that was decided.',
  words: 'Words that people have written themselves, in which anybody may be named.',
} as const
type PersonalKind = keyof typeof personalKinds

interface LegalGround {
  readonly law: string
  /** The years that the law requires, from the end of the calendar year; 0: not beyond the account. */
  readonly years: number
}

/** The grounds on which personal data are kept, each with its law and term. `docs/reference/retention.md` explains them. */
export const legalGrounds = {
  contract: {
    law: 'GDPR Art. 6(1)(b): needed for as long as there is an account, and not beyond it.',
    years: 0,
  },
  security: {
    law: 'GDPR Art. 6(1)(f): the safety of the account and of the service, for as long as there is an account.',
    years: 0,
  },
  claims: {
    law: 'GDPR Art. 17(3)(e), BGB §§ 195 and 199: claims about a payment can be made for three years.',
    years: 3,
  },
  payments: {
    law: 'ZAG § 30 (PSD2 Art. 21): records of payment services, also as proof of who authorised what (PSD2 Art. 72).',
    years: 5,
  },
  moneyLaundering: {
    law: 'GwG § 8(4): what was found about the identity of customers, and why transactions were looked into.',
    years: 5,
  },
  vouchers: {
    law: 'HGB § 257(1) no. 4 and (4), AO § 147(1) no. 4 and (3): accounting vouchers.',
    years: 8,
  },
  books: {
    law: 'HGB § 257(1) no. 1 and (4), AO § 147(1) no. 1 and (3): the books themselves.',
    years: 10,
  },
} as const satisfies Record<string, LegalGround>
export type RetentionGround = keyof typeof legalGrounds

export const nonOwnerSubjects = ['person', 'beneficiary', 'payer', 'merchant'] as const
type OtherSubject = (typeof nonOwnerSubjects)[number]

/**
 * The content of a column after an erasure; a null stays null. `word`: `[forgotten]`. `pseudonym`: a random
 * text of its own, for unique columns; `iban`, `digest` and `address` (with a host that does not exist) are
 * pseudonyms in that form. `empty`: an empty list or object. `committed`: in an entry of the audit trail,
 * each name that its leaf commits to; the rest are ids and states, and stays. `value`: exactly this, where
 * the table requires a form. `members`: these members of an object, as JSON; all others say nothing about a
 * person.
 */
type Forgetting =
  | 'null'
  | 'word'
  | 'pseudonym'
  | 'iban'
  | 'digest'
  | 'address'
  | 'empty'
  | 'committed'
  | { readonly value: string }
  | { readonly members: string }

/** The members by which an object names who acted. */
export const ID_AND_NAME = { members: '{"id":null,"name":null}' } as const

export interface PersonalColumn {
  readonly kind: PersonalKind
  /** Why it is kept. It is erased with the person, or at the end of the legal term, if there is one. */
  readonly ground: RetentionGround
  readonly forget: Forgetting
}

/**
 * The law requires a record for its subject, not for its table: the record of a payment that was never made
 * is about no payment. If the condition is false, the record is erased with the person, even if the grounds
 * of its columns say otherwise. It names the states in which nothing was paid, so that a state added later is
 * kept.
 */
export interface LegalRetention {
  /** An SQL condition on the row, which is called `t`; never null. Without it other nouns say which are kept. */
  readonly where?: string
  readonly words: string
}

/** What a noun knows of the records of another one, which must not name its tables. */
export interface PersonalAddition {
  /** Which records a table keeps that is below this noun, and whose records are about this one's. */
  readonly keptWhile?: LegalRetention
  /** SQL condition on the row `t`; never null: nothing was paid, so the law requires no record. */
  readonly unpaid?: string
  /** SQL condition on the row `t`; never null: it was paid after all. */
  readonly paid?: string
  readonly about?: PersonalTable['about']
}

export type PersonalAdditions = Readonly<Record<string, PersonalAddition>>

/** A table as data protection sees it: each column that can hold a text is named in one of the lists, or in
 * `nonPersonalColumns`. */
export interface PersonalTable {
  readonly personal: Readonly<Record<string, PersonalColumn>>
  readonly plain: readonly string[]
  /** Credentials: about no person, and never exported. */
  readonly secret?: readonly string[]
  /**
   * The columns with the id of a subject other than the owner; for JSON the member, as SQL writes it; in
   * brackets a statement that finds it by the row, which is called `t`.
   */
  readonly about?: Readonly<Partial<Record<OtherSubject, readonly string[]>>>
  /** The columns that name a stored file by its SHA-256. */
  readonly files?: readonly string[]
  /** The records that the law requires; by default all of them. */
  readonly keptWhile?: LegalRetention
  /** The column that names the owner: by default `owner_id`; null if no row belongs to one owner. */
  readonly owner?: 'id' | null
}

export type PersonalData = Readonly<Record<string, PersonalTable>>

/** Ids and states in any table, so that no table names them again. */
export const nonPersonalColumns: readonly string[] = [
  'id',
  'owner_id',
  'mode',
  'status',
  'exceptional_status',
  'currency',
  'agent_id',
  'delegation_id',
  'intent_id',
  'card_id',
  'wallet_id',
  'run_id',
  'transaction_id',
  'request_id',
  'person_id',
  'session_id',
  'workflow_id',
  'passkey_id',
  'beneficiary_id',
  'token_id',
  'transfer_id',
  'access_event_id',
  'webhook_id',
  'event_id',
]

export interface PersonalArea {
  readonly key: string
  readonly name: string
  readonly about: string
  readonly tables: PersonalData
  readonly sentences: ReadonlyMap<string, string>
}

/** An SQL condition on the row `t`: it refers to such a record of another table, whose id `named` gives. */
export const isAboutSql = (table: string, named: string, condition: (row: string) => string): string =>
  `exists (select from ${table} o where (o.owner_id, o.mode, o.id) = (t.owner_id, t.mode, ${named}) and ${condition('o')})`
