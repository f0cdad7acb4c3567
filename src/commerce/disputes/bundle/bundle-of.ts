import type { Context } from '../../../kernel/contract/context.ts'
import { formatEuros } from '../../../values/money.ts'
import type { Dispute } from '../dispute.ts'
import { collectFacts, type Facts } from './collect-facts.ts'
import { evidenceSections, picturesOf, receiptSections } from './evidence-sections.ts'
import type { BundleInput } from './input.ts'
import { decisionSection, intentSection } from './intent-sections.ts'
import {
  correspondenceSection,
  disputeSection,
  paymentSection,
  refundsSection,
  timelineSection,
} from './sections.ts'

/** The content of a bundle as it is now. The same facts give the same content, and so the same bytes. */
export async function bundleOf(
  dispute: Dispute,
  context: Pick<Context, 'records' | 'sql' | 'tenant' | 'ports'>,
): Promise<BundleInput> {
  const facts = await collectFacts(dispute, context)
  const { amountEuros, id, merchant, transactionId } = dispute
  return {
    title: 'Evidence for a disputed payment',
    subtitle: `${formatEuros(amountEuros)} at ${merchant}`,
    author: facts.holder,
    madeAt: lastInstant(facts),
    sections: [
      disputeSection(facts),
      paymentSection(facts),
      ...refundsSection(facts),
      ...intentSection(facts),
      ...decisionSection(facts),
      ...receiptSections(facts),
      ...evidenceSections(facts),
      timelineSection(facts),
      ...correspondenceSection(facts),
    ],
    pictures: picturesOf(facts),
    foot: `${id} · ${transactionId}`,
  }
}

/** The last thing that it tells of: a second bundle of the same facts has the same time. */
const lastInstant = ({ dispute, timeline }: Facts): string =>
  (timeline.at(-1)?.at ?? dispute.createdAt).toISOString()
