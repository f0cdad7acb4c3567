import type { OpenapiDocument, OperationObject } from './types.ts'

/** Callers that are not programs: people at a browser, and systems that sign their requests. */
const NO_PROGRAM = ['consoleSession', 'signature']

export function clientOperationKeys({ paths }: OpenapiDocument): ReadonlySet<string> {
  const operations = Object.values(paths).flatMap(item => Object.values(item))
  const nounsOfPages = new Set(operations.filter(isPage).map(nounOf))
  const found = operations.filter(
    operation => !nounsOfPages.has(nounOf(operation)) && isForPrograms(operation) && !isProtocol(operation),
  )
  return new Set(found.map(({ operationId }) => operationId))
}

const nounOf = ({ operationId }: OperationObject): string => operationId.slice(0, operationId.indexOf('.'))

const contentOf = ({ responses }: OperationObject) => {
  const [success = {}] = Object.entries(responses).flatMap(([status, response]) =>
    status.startsWith('2') && !('$ref' in response) ? [response.content ?? {}] : [],
  )
  return success
}

const isPage = (operation: OperationObject): boolean =>
  Object.keys(contentOf(operation)).some(type => /^text\/(html|javascript)/.test(type))

const isForPrograms = ({ security }: OperationObject): boolean =>
  security.length === 0 ||
  security.some(requirement => Object.keys(requirement).every(scheme => !NO_PROGRAM.includes(scheme)))

/** Free JSON marks a protocol, such as those of assistants and of paying merchants. */
function isProtocol(operation: OperationObject): boolean {
  const { schema } = contentOf(operation)['application/json'] ?? {}
  return schema !== undefined && Object.keys(schema).length === 0
}
