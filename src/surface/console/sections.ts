import { agentsApi } from '../../control/agents/index.ts'
import type { Navigation } from './frame.ts'
import type { Section } from './page.ts'
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
export const navigation: Navigation = [['Control', control]]

/** Every section by its name in addresses; those that nobody navigates to stand only here. */
export const sections: Readonly<Record<string, Section>> = { ...control }
