import { z } from 'zod'
import { area } from '../../../src/kernel/contract/area.ts'
import { bindHandlers, get, post } from '../../../src/kernel/contract/operation.ts'

const Answer = z.object({ text: z.string() })

const reading = (name: string, summary: string) =>
  get(`/conformance/${name}`, {
    summary,
    tool: { name, isCommon: true, use: `Use it in tests of the protocol. ${summary}.` },
    callers: ['key', 'agent'],
    returns: [200, Answer],
  })

const toolsApi = {
  answer: reading('test_simple_text', 'Answer with a text'),
  answerUnasked: reading('test_streaming_elicitation', 'Answer without asking the client for anything'),
  answerUnlogged: reading('test_logging_tool', 'Answer without telling the client what is logged'),
  refuse: post('/conformance/test_error_handling', {
    summary: 'Refuse',
    tool: {
      name: 'test_error_handling',
      isCommon: true,
      use: 'Use it in tests of the protocol. It refuses.',
    },
    callers: ['key', 'agent'],
    returns: [200, Answer],
    fails: { conformance_refused: [409, 'This tool intentionally returns an error for testing.'] },
  }),
}

/** The tools that have run: a successful suite does not prove that it has called them. */
export const called = new Set<string>()

const answerOf =
  ({ tool }: (typeof toolsApi)['answer']) =>
  () => {
    if (tool) called.add(tool.name)
    return { text: 'This is a simple text response for testing.' }
  }

/** Test operations whose tools have the names that the suite calls. */
export const conformanceArea = area(
  'Conformance',
  'Tools of the tests, which the protocol’s own suite calls by their names.',
  bindHandlers(toolsApi, {
    answer: answerOf(toolsApi.answer),
    answerUnasked: answerOf(toolsApi.answerUnasked),
    answerUnlogged: answerOf(toolsApi.answerUnlogged),
    async refuse(_, { refuse }) {
      called.add('test_error_handling')
      return refuse('conformance_refused')
    },
  }),
)
