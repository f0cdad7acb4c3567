export { WalletEvent, WalletRecord, walletClosedEvent, walletsApi } from './api.ts'
export {
  closeAllWallets,
  closeWallet,
  findMainWallet,
  findMainWalletId,
  findOnlyOpenWallet,
  findReplacementWallet,
  firstOpenWallet,
  openWallet,
  type WalletRow,
  walletsById,
} from './lifecycle.ts'
export { findPayableWallets, findSepaAccount, type PayableWallet } from './payable-wallets.ts'
export { walletEvent } from './response.ts'
export { isPurse, purseRefusal } from './wallet.ts'
export { findWallet } from './wallets.ts'
