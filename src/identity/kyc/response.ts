import type { Sql } from '../../kernel/contract/sql.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { entityTable } from '../../kernel/database/entity-table.ts'
import { KycDocument } from './document.ts'
import type { KycSubmission } from './submission.ts'

const OF_SUBMISSIONS =
  'where owner_id = any($1::text[]) and mode = any($2::text[]) and submission_id = any($3::text[]) order by id'

/** The documents of these submissions, of whatever owners, by one statement. */
async function documentsOf(submissions: readonly KycSubmission[], sql: Sql): Promise<KycDocument[]> {
  if (submissions.length === 0) return []
  return sql(entityTable(KycDocument).selecting(OF_SUBMISSIONS), [
    [...new Set(submissions.map(({ ownerId }) => ownerId))],
    [...new Set(submissions.map(({ mode }) => mode))],
    submissions.map(({ id }) => id),
  ]) as Promise<unknown> as Promise<KycDocument[]>
}

/** A submission as the API shows it. */
export const submissionResponse = (submission: KycSubmission, documents: readonly KycDocument[]) =>
  withMembers(submission, { documents: [...documents] })

export async function submissionResponses(submissions: readonly KycSubmission[], sql: Sql) {
  const documents = await documentsOf(submissions, sql)
  return submissions.map(submission =>
    submissionResponse(
      submission,
      documents.filter(({ submissionId }) => submissionId === submission.id),
    ),
  )
}

export const kycEvent = ({ id, ownerId, representativeId, status }: KycSubmission) => ({
  submissionId: id,
  customerId: ownerId,
  representativeId,
  status,
})
