import { agentsApi } from '../../../control/agents/index.ts'
import { policiesApi, usageApi } from '../../../control/policies/index.ts'
import type { Section } from '../page.ts'
import { agentPage, agentsPage } from './agents.ts'
import { policiesPage, policyPage, presetsPage } from './policies.ts'

export const control: Readonly<Record<string, Section>> = {
  agents: {
    title: 'Agents',
    needs: agentsApi.list,
    list: agentsPage,
    record: agentPage,
    table: usageApi.usage,
  },
  policies: {
    title: 'Policies',
    needs: policiesApi.list,
    list: policiesPage,
    record: policyPage,
    table: policiesApi.list,
  },
}

export const controlDetails: Readonly<Record<string, Section>> = {
  presets: {
    title: 'Presets',
    needs: policiesApi.presets,
    list: presetsPage,
    table: policiesApi.presets,
  },
}
