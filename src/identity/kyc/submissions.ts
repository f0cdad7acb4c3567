import type { FilterQuery } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { inRange } from '../../kernel/contract/conditions.ts'
import type { Context, ReadContext } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { statementsOf } from '../../kernel/database/entity-statements.ts'
import { clock } from '../../values/clock.ts'
import { KycDocument } from './document.ts'
import { KycSubmission } from './submission.ts'

const tenantOf = (table: 'kyc_submissions' | 'kyc_documents'): string => `
select k.owner_id as "ownerId", k.mode, coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from ${table} k left join tenant_clocks t on t.owner_id = k.owner_id and t.mode = k.mode
where k.id = $1`

const OF_SUBMISSION = tenantOf('kyc_submissions')
const OF_DOCUMENT = tenantOf('kyc_documents')

type FoundTenant = Tenant & Row & { readonly offsetMs: number }

async function actForOwner(
  statement: string,
  id: string,
  { actor, sql, switchTenant }: Context,
): Promise<boolean> {
  if (actor.tenant) return true
  const [found] = await sql<FoundTenant>(statement, [id])
  if (!found) return false
  switchTenant({ ownerId: found.ownerId, mode: found.mode }, clock.tenant(found.offsetMs))
  return true
}

/** Switches an operator to the owner of the submission. False if there is none with this id. */
export const actForSubmissionOwner = (id: string, context: Context): Promise<boolean> =>
  actForOwner(OF_SUBMISSION, id, context)

export const actForDocumentOwner = (id: string, context: Context): Promise<boolean> =>
  actForOwner(OF_DOCUMENT, id, context)

export async function findSubmissionTenant(
  id: string,
  { sql }: { readonly sql: Sql },
): Promise<Tenant | undefined> {
  const [found] = await sql<FoundTenant>(OF_SUBMISSION, [id])
  return found && { ownerId: found.ownerId, mode: found.mode }
}

export const submissionPageOfAllOwners = (
  condition: FilterQuery<KycSubmission>,
  { sql, pageBy }: ReadContext,
) =>
  pageBy(async (after, most) => {
    const table = statementsOf(KycSubmission)
    const values: unknown[] = []
    const rest = after === undefined ? {} : { id: inRange({ lt: after }) }
    const wanted = table.condition({ ...condition, ...rest }, values)
    const clause = `where true and ${wanted} order by id desc limit $${values.push(most)}`
    return sql<KycSubmission & Row>(table.selecting(clause), values)
  })

const OF_SUBMISSIONS =
  'where owner_id = any($1::text[]) and mode = any($2::text[]) and submission_id = any($3::text[]) order by id'

async function documentsOf(submissions: readonly KycSubmission[], sql: Sql): Promise<KycDocument[]> {
  if (submissions.length === 0) return []
  return sql(statementsOf(KycDocument).selecting(OF_SUBMISSIONS), [
    [...new Set(submissions.map(({ ownerId }) => ownerId))],
    [...new Set(submissions.map(({ mode }) => mode))],
    submissions.map(({ id }) => id),
  ]) as Promise<unknown> as Promise<KycDocument[]>
}

export const kycSubmissionResponse = (submission: KycSubmission, documents: readonly KycDocument[]) =>
  withMembers(submission, { documents: [...documents] })

export async function kycSubmissionResponses(submissions: readonly KycSubmission[], sql: Sql) {
  const documents = await documentsOf(submissions, sql)
  return submissions.map(submission =>
    kycSubmissionResponse(
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
