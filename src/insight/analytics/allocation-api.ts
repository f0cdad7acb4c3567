import { z } from 'zod'
import { get } from '../../kernel/contract/operation.ts'
import { digitsAsNumber, integerSchema } from '../../kernel/contract/page.ts'
import { id } from '../../values/ids.ts'
import { signedMoneySchema } from '../../values/money.ts'
import {
  reportAccess,
  reportQuery,
  reportSpanMembers,
  shareSchema,
  spendFigureMembers,
} from '../reports/index.ts'
import { costSharingRules } from './allocation.ts'

const figures = {
  ...spendFigureMembers,
  sharedCents: signedMoneySchema.meta({
    description: 'Share of the costs without a label, which is deducted there.',
  }),
  allocatedCents: signedMoneySchema.meta({
    description: '`netEuros` plus `sharedEuros`. The sum over all labels is the total.',
  }),
}

const groupings = /^(?:run|agent|merchant|metadata\.[^\s].{0,99})$/su

export const AllocationRecord = z
  .object({
    ...reportSpanMembers,
    groupBy: z.string(),
    shared: z.enum(costSharingRules),
    total: z.object(spendFigureMembers),
    data: z
      .array(
        z.object({
          label: z.string().nullable().meta({ description: 'Null for costs without a label.' }),
          name: z.string().nullable().meta({ description: 'The name of an agent.' }),
          ...figures,
          share: shareSchema,
        }),
      )
      .meta({ description: 'The highest net spend first.' }),
    other: z
      .object({ groups: z.int(), ...figures })
      .nullable()
      .meta({ description: 'All others together.' }),
  })
  .meta({ id: 'Allocation' })

const query = reportQuery({
  groupBy: z
    .string()
    .max(109)
    .regex(groupings, 'run, agent, merchant, or metadata. and a key')
    .default('agent')
    .meta({ examples: ['run', 'metadata.project'] }),
  shared: z.enum(costSharingRules).default('none').meta({
    description:
      'How costs without a label are shared. `none`: a line of their own. `by_spend`: in proportion to each label’s own costs. `alike`: equally. Parts are rounded by the largest remainder.',
  }),
  agentId: id('agent').optional(),
  limit: digitsAsNumber(integerSchema(1, 100).default(100)).meta({
    description: 'The number of listed labels.',
  }),
})

export const allocationApi = {
  allocation: get('/analytics/allocation', {
    ...reportAccess,
    summary: 'Allocate costs by run, agent, merchant or label',
    description:
      'To the cent: the lines and `other` add up to `total`. With `metadata.<key>`, the label of a payment is that of its intent, else of its run, else of its agent.',
    query,
    csv: 'a line for each label, and one for all others; `allocatedEuros` adds up to the net spend',
    returns: [200, AllocationRecord],
  }),
}
