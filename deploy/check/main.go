// Command check reads the Dockerfile, the compose file, the Kubernetes manifests and the dashboard for Grafana as the programs do
// that take them, and prints what they would refuse:
//
//	go run -C deploy/check .
//
// It is a module of its own: Argosy needs none of what it needs.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
)

func main() {
	n := 0
	for _, check := range []func() (int, error){dockerfile, compose, kubernetes, grafana} {
		k, err := check()
		if err != nil {
			fmt.Fprintln(os.Stderr, "check:", err)
			os.Exit(1)
		}
		n += k
	}
	fmt.Printf("%d files are as they should be\n", n)
}

// dockerfile parses the Dockerfile and lets BuildKit's linter look at it.
func dockerfile() (int, error) {
	b, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		return 0, err
	}
	r, err := parser.Parse(bytes.NewReader(b))
	if err != nil {
		return 0, fmt.Errorf("Dockerfile: %w", err)
	}
	var found []error
	lint := linter.New(&linter.Config{Warn: func(rule, description, _, message string, _ []parser.Range) {
		found = append(found, fmt.Errorf("Dockerfile: %s: %s (%s)", rule, message, description))
	}})
	stages, _, err := instructions.Parse(r.AST, lint)
	if err != nil {
		return 0, fmt.Errorf("Dockerfile: %w", err)
	}
	if len(stages) != 2 {
		found = append(found, fmt.Errorf("Dockerfile: %d stages, want one that builds and one that is the image", len(stages)))
	}
	return 1, errors.Join(found...)
}

// compose loads the compose file: by its schema, with every reference in it followed.
func compose() (int, error) {
	o, err := cli.NewProjectOptions([]string{"../compose.yaml"}, cli.WithResolvedPaths(true))
	if err != nil {
		return 0, err
	}
	p, err := o.LoadProject(context.Background())
	if err != nil {
		return 0, fmt.Errorf("compose.yaml: %w", err)
	}
	for name, s := range p.Services {
		for _, v := range s.Volumes {
			if v.Type == "bind" && filepath.Base(filepath.Dir(v.Source)) != "secrets" && filepath.Base(v.Source) != "secrets" {
				if _, err := os.Stat(v.Source); err != nil {
					return 0, fmt.Errorf("compose.yaml: %s: %w", name, err)
				}
			}
		}
	}
	return 1, nil
}

// kubernetes decodes every object strictly, and looks at what the API server would refuse beyond that: selectors that
// do not match their templates, mounts of volumes that are not there.
func kubernetes() (int, error) {
	files, err := filepath.Glob("../kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("no manifests: %w", err)
	}
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{Yaml: true, Strict: true})
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return 0, err
		}
		for i, doc := range bytes.Split(b, []byte("\n---\n")) {
			o, _, err := strict.Decode(doc, nil, nil)
			if err == nil {
				err = consistent(o)
			}
			if err != nil {
				return 0, fmt.Errorf("%s: object %d: %w", filepath.Base(f), i+1, err)
			}
		}
	}
	return len(files), nil
}

func consistent(o runtime.Object) error {
	switch o := o.(type) {
	case *appsv1.Deployment:
		return pod(o.Spec.Selector, &o.Spec.Template, nil)
	case *appsv1.StatefulSet:
		return pod(o.Spec.Selector, &o.Spec.Template, o.Spec.VolumeClaimTemplates)
	}
	return nil
}

func pod(s *metav1.LabelSelector, t *corev1.PodTemplateSpec, claims []corev1.PersistentVolumeClaim) error {
	sel, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return err
	}
	if sel.Empty() || !sel.Matches(labels.Set(t.Labels)) {
		return fmt.Errorf("selector %s does not match the template's labels %v", sel, t.Labels)
	}
	volumes := map[string]bool{}
	for _, v := range t.Spec.Volumes {
		volumes[v.Name] = true
	}
	for _, c := range claims {
		volumes[c.Name] = true
	}
	for _, c := range append(t.Spec.InitContainers, t.Spec.Containers...) {
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				return fmt.Errorf("container %s mounts %q, which is no volume of the pod", c.Name, m.Name)
			}
		}
	}
	return nil
}
