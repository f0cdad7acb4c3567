import { protectApi } from '../../../../commerce/mpp/index.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderStatus } from '../../parts/text.ts'

export const protectRulesSection = consoleSection({
  kind: 'Rule',
  title: 'Allowed machine payees',
  lead: 'Deny rules override allow rules. If an agent has allow rules, its own or for all agents, it can pay only those payees.',
  list: protectApi.rules,
  name: ({ merchant }) => merchant,
  columns: ['type', 'agentId', 'reason', 'createdAt'],
  shows: {
    type: ({ type }) => renderStatus(type),
    agentId: ({ agentId }, request) => (agentId ? renderRecordLink(request, agentId) : 'All agents'),
  },
  events: ['mpp.protect_rule.*'],
  empty: 'No rules yet. Intents and policies alone decide which addresses can be paid.',
  call: 'agentpay mpp protect --type deny --merchant "*.example.com"',
  create: {
    operation: protectApi.protect,
    labels: {
      merchant: 'Host (shop.example.com, *.example.com) or origin',
      agentId: 'Agent (empty: all agents)',
    },
  },
  actions: [
    {
      operation: protectApi.unprotect,
      forRecord: ({ merchant }) => ({ confirm: `Delete the rule for ${merchant}?`, done: 'part:list' }),
    },
  ],
})
