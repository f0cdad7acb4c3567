import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import type { disputesApi } from '../api.ts'
import { Dispute } from '../dispute.ts'
import { bundleOf } from './bundle-of.ts'
import { renderBundle } from './render.ts'

export const bundle: HandlerOf<typeof disputesApi.bundle> = async ({ params }, context) => {
  const { records, tenant, ports, refuse } = context
  const dispute = await records.findOne(Dispute, { id: params.id })
  if (!dispute) return refuse('dispute_not_found')
  const input = await bundleOf(dispute, context)
  // Nothing is laid out before the answer begins: no transaction is open then.
  const content = (async function* () {
    const { pdf } = await renderBundle(input, tenant, ports)
    yield pdf
  })()
  return { type: 'application/pdf', content, name: `dispute-${dispute.id}.pdf` }
}
