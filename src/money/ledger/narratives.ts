import { answerTo, question, type RegisteredAnswer } from '../../kernel/contract/question.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import type { Cents } from '../../values/money.ts'
import type { OriginalAmount } from '../../values/original-amount.ts'

/** An entry of an account, with what its posting was made for. */
export interface PostingOfAccount {
  readonly postingId: string
  readonly template: string
  /** A record's id, for some types with a slash and what sets its postings apart. */
  readonly referenceType: string
  readonly referenceId: string
  /** Positive for credits. */
  readonly amountCents: Cents
  /** What the posting moves in all: the account may have paid a part. */
  readonly totalCents: Cents
}

/** What a statement says of a posting beside its amount. */
export interface PostingNarrative {
  readonly name: string | null
  readonly iban: string | null
  readonly reference: string | null
  readonly endToEndId: string | null
  /** The merchant's amount in its currency; null for euros. */
  readonly original: OriginalAmount | null
  /** For a payment by card the whole charge, of which the account may have paid a part; null for any other posting. */
  readonly chargedCents: Cents | null
}

export const noNarrative: PostingNarrative = {
  name: null,
  iban: null,
  reference: null,
  endToEndId: null,
  original: null,
  chargedCents: null,
}

/**
 * A posting stays as it was made, and so has no name of a person in it: the nouns for whose records it was made
 * describe it, by its id.
 */
export const postingNarratives = question<
  readonly PostingOfAccount[],
  ReadonlyMap<string, Partial<PostingNarrative>>
>('ledger.narratives')

/** Describes the postings of a type of record. The statement finds the records by owner, mode and ids. */
export const describePostings = <R extends Row & { readonly id: string }>(
  type: string,
  statement: string,
  narrate: (record: R, posting: PostingOfAccount) => Partial<PostingNarrative>,
): RegisteredAnswer =>
  answerTo(postingNarratives, async (postings, { sql, tenant: { ownerId, mode } }) => {
    const own = postings.filter(({ referenceType }) => referenceType === type)
    if (own.length === 0) return new Map()
    const records = await sql<R>(statement, [ownerId, mode, [...new Set(own.map(recordIdOf))]])
    const byId = new Map(records.map(record => [record.id, record]))
    return new Map(
      own.flatMap(posting => {
        const record = byId.get(recordIdOf(posting))
        return record ? [[posting.postingId, narrate(record, posting)] as const] : []
      }),
    )
  })

interface NarrativeRow extends Row, Partial<PostingNarrative> {
  readonly id: string
}

/** For a statement whose columns are the narrative. */
export const narrativeOfRow = ({ id: _, ...narrative }: NarrativeRow): Partial<PostingNarrative> => narrative

const recordIdOf = ({ referenceId }: PostingOfAccount): string => referenceId.split('/', 1)[0] ?? ''
