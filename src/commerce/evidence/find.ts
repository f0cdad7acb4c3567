import type { Context } from '../../kernel/contract/context.ts'
import type { Condition } from '../../kernel/contract/records.ts'
import { readFile } from '../../kernel/database/read-file.ts'
import { Evidence, MAX_OF_INTENT } from './piece.ts'

type ReadContext = Pick<Context, 'records'>

/** Those among these pieces that there are and that the caller may see, oldest first. */
export const findEvidence = (ids: readonly string[], context: ReadContext): Promise<Evidence[]> =>
  find({ id: { $in: [...new Set(ids)] } }, context)

/** All that is kept for an intent, oldest first. */
export const evidenceOf = (intentId: string, context: ReadContext): Promise<Evidence[]> =>
  find({ intentId }, context)

const find = (condition: Condition<Evidence>, { records }: ReadContext): Promise<Evidence[]> =>
  records.find(Evidence, condition, { orderBy: { id: 'asc' }, limit: MAX_OF_INTENT })

/** The content of a piece, found to be what came; else the code of the refusal: see `fileRefusals`. */
export const evidenceContent = async (
  { text, sha256 }: Evidence,
  { ports, tenant }: Pick<Context, 'ports' | 'tenant'>,
) => (text === null ? readFile(ports.files, tenant, sha256) : Buffer.from(text))
