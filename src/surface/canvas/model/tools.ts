import type { ModelTool } from '../../../ports/language-model.ts'
import type { Line } from '../lines.ts'
import type { Given, Speaker, Speaking } from '../speaker.ts'

const MOST_FOUND = 10

const text = { type: 'string' } as const
const general: readonly ModelTool[] = [
  {
    name: 'search_operations',
    description: 'Finds operations by a few words. Then describe_operation, then call_operation.',
    inputSchema: { type: 'object', properties: { query: text }, required: ['query'] },
  },
  {
    name: 'describe_operation',
    description: 'What an operation takes and refuses.',
    inputSchema: { type: 'object', properties: { operation: text }, required: ['operation'] },
  },
  {
    name: 'call_operation',
    description:
      'Calls an operation. What would change something becomes a proposal, which a person applies.',
    inputSchema: {
      type: 'object',
      properties: { operation: text, input: { type: 'object' } },
      required: ['operation'],
    },
  },
]

/** The tools that a model is given: the small set of the caller, and the three that reach everything else. */
export const toolsFor = async ({ ports, actor }: Pick<Speaking, 'ports' | 'actor'>): Promise<ModelTool[]> => [
  ...(await ports.tools.listFor(actor, true)).map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  })),
  ...general,
]

/** Runs a tool for a model, telling each step; gives what the model is told. It reads, and proposes what would change something. */
export async function* runTool(
  name: string,
  input: Given,
  { ports, actor }: Pick<Speaking, 'ports' | 'actor'>,
  speaker: Speaker,
): AsyncGenerator<Line, unknown> {
  const { tools } = ports
  if (name === 'search_operations') return tools.search(actor, textIn(input.query).slice(0, 500), MOST_FOUND)
  if (name === 'describe_operation')
    return tools.describe(actor, textIn(input.operation)) ?? { error: 'There is no such operation.' }
  const isGeneral = name === 'call_operation'
  const target = isGeneral ? tools.target(textIn(input.operation)) : tools.named(name)
  if (!target) return { error: isGeneral ? 'There is no such operation.' : 'There is no such tool.' }
  const { idempotencyKey: _, ...given } = isGeneral ? objectIn(input.input) : input
  if (!target.isWriting)
    return (yield* speaker.ask<unknown>(target.operation, given)) ?? { error: 'It was refused.' }
  const steps: Line[] = []
  for await (const line of speaker.propose(target.operation, given)) {
    steps.push(line)
    yield line
  }
  return steps
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

const objectIn = (value: unknown): Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Given) : {}
