export { fillerKeysApi } from './api.ts'
export {
  findRecipientKey,
  mayNameAnyKey,
  namesOneRecipientKey,
  oneRecipientKeyRequired,
  type RecipientKeyReference,
  recipientKeyMembers,
  recipientKeyRefusals,
} from './recipient.ts'
