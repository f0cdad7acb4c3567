/** `intents.create` becomes `IntentsCreate`. */
export const toPascalCase = (key: string): string =>
  key
    .split('.')
    .map(part => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')

/** `agentTokens` becomes `agent_tokens`. */
export const toSnakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

export const isJsIdentifier = (text: string): boolean => /^[A-Za-z_$][\w$]*$/.test(text)

export const referencedRecord = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)
