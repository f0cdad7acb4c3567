import { agentsApi } from '../../control/agents/index.ts'
import type { Navigation } from './frame.ts'
import type { Section } from './page.ts'
import { account, accountDetails, allowances, happenings } from './pages/account/sections.ts'
import { agentPage, agentsPage } from './pages/agents.ts'

const control: Readonly<Record<string, Section>> = {
  agents: {
    title: 'Agents',
    needs: agentsApi.list,
    list: agentsPage,
    record: agentPage,
    table: agentsApi.list,
  },
}

/** The navigation: its groups, and the sections of each in their order. */
export const navigation: Navigation = [
  ['Control', control],
  ['Allowed in advance', allowances],
  ['What happened', happenings],
  ['Account', account],
]

/** Every section by its name in addresses; those that nobody navigates to stand only here. */
export const sections: Readonly<Record<string, Section>> = {
  ...control,
  ...allowances,
  ...happenings,
  ...account,
  ...accountDetails,
}
