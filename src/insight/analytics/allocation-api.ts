import { z } from 'zod'
import { file } from '../../kernel/contract/file.ts'
import { get } from '../../kernel/contract/operation.ts'
import { inDigits, wholeNumber } from '../../kernel/contract/page.ts'
import { id } from '../../values/ids.ts'
import { signedMoney } from '../../values/money.ts'
import { answerSpan, figureMembers, ofSpan, reading, share } from '../reports/index.ts'
import { sharingRules } from './allocation.ts'

const figures = {
  ...figureMembers,
  sharedCents: signedMoney.meta({
    description: 'What it gets of the costs without a label; those lose as much.',
  }),
  allocatedCents: signedMoney.meta({
    description: '`netEuros` with `sharedEuros`: together they are the whole.',
  }),
}

const groupings = /^(?:run|agent|merchant|metadata\.[^\s].{0,99})$/su

export const AllocationRecord = z
  .object({
    ...answerSpan,
    groupBy: z.string(),
    shared: z.enum(sharingRules),
    total: z.object(figureMembers),
    data: z
      .array(
        z.object({
          label: z.string().nullable().meta({ description: 'Null: what has no label.' }),
          name: z.string().nullable().meta({ description: 'The name of an agent.' }),
          ...figures,
          share,
        }),
      )
      .meta({ description: 'The highest net spend first.' }),
    other: z
      .object({ groups: z.int(), ...figures })
      .nullable()
      .meta({ description: 'All others together.' }),
  })
  .meta({ id: 'Allocation' })

const query = ofSpan({
  groupBy: z
    .string()
    .max(109)
    .regex(groupings, 'run, agent, merchant, or metadata. and a key')
    .default('agent')
    .meta({ examples: ['run', 'metadata.project'] }),
  shared: z.enum(sharingRules).default('none').meta({
    description:
      'What becomes of the costs without a label. `none`: a line of its own. `by_spend`: each label gets a part by what it costs itself. `alike`: all get the same. Parts are rounded by the largest remainder.',
  }),
  agentId: id('agent').optional(),
  limit: inDigits(wholeNumber(1, 100).default(100)).meta({
    description: 'How many labels are told one by one.',
  }),
})

export const allocationApi = {
  allocation: get('/analytics/allocation', {
    ...reading,
    summary: 'Divide costs by run, agent, merchant or a label',
    description:
      'To the cent: the lines and `other` add up to `total`. By `metadata.<key>` the label of a payment is that of its intent, else that of its run, else that of its agent.',
    query,
    returns: [200, AllocationRecord],
  }),
  allocationTable: get('/analytics/allocation/csv', {
    ...reading,
    summary: 'Divided costs, as a table for accounting',
    description:
      'RFC 4180 in UTF-8: a line for each label, and one for all others; `allocatedEuros` adds up to what was spent net.',
    query,
    returns: [200, file('text/csv')],
  }),
}
