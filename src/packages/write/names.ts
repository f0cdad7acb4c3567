/** `intents.create` becomes `IntentsCreate`. */
export const pascal = (key: string): string =>
  key
    .split('.')
    .map(part => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')

/** `agentTokens` becomes `agent_tokens`. */
export const snake = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

export const isName = (text: string): boolean => /^[A-Za-z_$][\w$]*$/.test(text)

export const recordIn = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)
