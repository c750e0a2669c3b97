package main

import "github.com/spf13/cobra"

func newDemo() *cobra.Command   { return &cobra.Command{Use: "demo"} }
func newVerify() *cobra.Command { return &cobra.Command{Use: "verify"} }
func newExport() *cobra.Command { return &cobra.Command{Use: "export"} }
func newTasks() *cobra.Command  { return &cobra.Command{Use: "tasks"} }
func newRetry() *cobra.Command  { return &cobra.Command{Use: "retry"} }
func newDrop() *cobra.Command   { return &cobra.Command{Use: "drop"} }
