export { fillerKeysApi } from './api.ts'
export {
  findRecipientKey,
  namesOneRecipientKey,
  oneRecipientKeyRequired,
  type RecipientKeyReference,
  recipientKeyMembers,
  recipientKeyRefusals,
} from './recipient.ts'
